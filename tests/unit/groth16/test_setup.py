"""Keys hold the points that the definition of the arguments says, and snarkjs proves with them."""

import numpy as np
import pytest

from kernels.curves import BLS12_381, BN254, Curve, Group
from kernels.points import to_integers
from proving.formats.snarkjs import proof_from_json, verifying_key_to_json
from proving.formats.wtns import Witness, write_witness
from proving.formats.zkey import read_zkey, write_zkey
from proving.groth16 import setup as subject
from proving.groth16.lagrange import montgomery
from proving.groth16.objects import Proof
from proving.groth16.qap import domain_size
from proving.groth16.setup import ToxicWaste, make_key, setup
from proving.groth16.verifier import verify
from tests.unit.groth16.reference import (
    Secrets,
    System,
    key_scalars,
    product_chain,
    times,
    verifies,
    words,
)

KNOWN = Secrets(tau=0x1F2E3D4C5B6A7988, alpha=3**70, beta=5**60, gamma=7**50, delta=11**40)


def known_waste(curve: Curve) -> ToxicWaste:
    waste = ToxicWaste(curve)
    for name in ("tau", "alpha", "beta", "gamma", "delta"):
        setattr(waste, name, montgomery(curve, getattr(KNOWN, name)))
    return waste


def points(curve: Curve, group: Group, array: np.ndarray) -> list:
    return [to_integers(curve, group, row) for row in array]


def test_every_point_is_what_the_definition_says(curve: Curve) -> None:
    system, _ = product_chain(curve, 3)
    key = make_key(system, known_waste(curve), threads=1)
    scalars = key_scalars(system, KNOWN, key.domain_size)
    expected = {name: [times(curve, 1, value) for value in values] for name, values in scalars.items()}
    for name in ("a", "c", "h"):
        assert points(curve, Group.G1, getattr(key.points, name)) == expected[name], name
    assert points(curve, Group.G1, key.points.b1) == expected["b"]
    assert points(curve, Group.G2, key.points.b2) == [times(curve, 2, value) for value in scalars["b"]]
    assert list(key.ic) == expected["ic"]
    assert (key.alpha_g1, key.beta_g1, key.delta_g1) == tuple(
        times(curve, 1, value) for value in (KNOWN.alpha, KNOWN.beta, KNOWN.delta)
    )
    assert (key.beta_g2, key.gamma_g2, key.delta_g2) == tuple(
        times(curve, 2, value) for value in (KNOWN.beta, KNOWN.gamma, KNOWN.delta)
    )


@pytest.mark.parametrize(("constraints", "domain"), [(1, 4), (6, 8), (7, 16), (13, 16), (14, 16), (15, 32)])
def test_domain_holds_constraints_and_public_rows(constraints: int, domain: int) -> None:
    system, _ = product_chain(BN254, constraints)  # one public wire, so two rows more
    assert domain_size(system) == domain


def test_a_system_too_large_for_the_field_is_refused() -> None:
    system = System(BN254, wires=1 << 28, public_count=(1 << 28) - 1, rows=((((0, 1),),) * 3,))
    with pytest.raises(ValueError, match="room"):
        domain_size(system)


def test_keys_are_marked_insecure_and_never_alike(curve: Curve) -> None:
    system, _ = product_chain(curve, 2)
    first, second = setup(system), setup(system)
    assert first.insecure
    assert first.key_id != second.key_id
    assert first.alpha_g1 != second.alpha_g1
    assert first.delta_g2 != second.delta_g2


def test_secrets_are_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[ToxicWaste] = []

    class Spy(ToxicWaste):
        def __init__(self, curve: Curve) -> None:
            super().__init__(curve)
            made.append(self)

    monkeypatch.setattr(subject, "ToxicWaste", Spy)
    system, _ = product_chain(BN254, 2)
    setup(system)
    (waste,) = made
    assert len(waste._arrays) > 5
    assert not any(array.any() for array in waste._arrays)


@pytest.mark.node
@pytest.mark.parametrize(
    ("curve", "length"),
    [(BN254, 1), (BN254, 14), (BLS12_381, 13)],
    ids=["bn254-1", "bn254-14", "bls12-381-13"],
)
def test_snarkjs_proves_with_our_keys(curve: Curve, length: int, tmp_path, snarkjs) -> None:
    system, witness = product_chain(curve, length)
    key = setup(system)
    zkey, wtns = tmp_path / "key.zkey", tmp_path / "witness.wtns"
    write_zkey(zkey, key)
    write_witness(wtns, Witness(curve, words(witness)))
    proof, public = snarkjs.prove(zkey, wtns)
    made: Proof = proof_from_json(proof)
    signals = [int(value) for value in public]
    assert signals == [witness[1]]
    vkey = verifying_key_to_json(key.verifying_key)
    assert snarkjs.verify(vkey, public, proof)
    assert verify(key.verifying_key, made, signals).valid
    exported = snarkjs.export_verifying_key(zkey)
    assert {name: exported[name] for name in vkey} == vkey
    assert read_zkey(zkey).insecure


def test_a_wire_repeated_in_a_combination_counts_twice(curve: Curve, host) -> None:
    from proving.groth16.prover import prove

    terms = ((2, 1), (2, 1), (0, 1))  # (2 w2 + 1) * w2 = w1
    system = System(curve, wires=3, public_count=1, rows=((terms, ((2, 1),), ((1, 1),)),))
    key = setup(system)
    statement = prove(host, key, words([1, 21, 3]))
    assert statement.public == (21,)
    assert verifies(key.verifying_key, statement.proof, statement.public)
