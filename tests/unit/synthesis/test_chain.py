"""Chains of any size."""

import pytest

from kernels.curves import BLS12_381, BN254
from proving.formats.r1cs import first_unsatisfied, read_r1cs, write_r1cs
from proving.formats.words import to_integers
from proving.synthesis.chain import chain_circuit


@pytest.mark.parametrize("curve", [BN254, BLS12_381])
@pytest.mark.parametrize("kind", ["dense", "bits"])
@pytest.mark.parametrize("constraints", [2, 3, 250, 251, 252, 253, 502, 1000])
def test_chain_has_the_wanted_size_and_is_satisfied(curve, kind, constraints, tmp_path):
    check_chain(curve, kind, constraints, tmp_path)


@pytest.mark.parametrize("curve", [BN254, BLS12_381])
@pytest.mark.parametrize("constraints", [4, 5, 500, 503])
def test_a_mix_has_the_wanted_size_and_is_satisfied(curve, constraints, tmp_path):
    check_chain(curve, "mix", constraints, tmp_path)


def check_chain(curve, kind, constraints, tmp_path):
    system, witness = chain_circuit(curve, constraints, kind)
    assert system.constraints == constraints
    assert system.public_count == 1
    assert len(witness.values) == system.wires
    assert to_integers(witness.values[:1]) == [1]
    assert first_unsatisfied(system, witness.values) is None
    write_r1cs(tmp_path / "c.r1cs", system)
    assert first_unsatisfied(read_r1cs(tmp_path / "c.r1cs"), witness.values) is None


def test_dense_chain_is_the_recurrence():
    _, witness = chain_circuit(BN254, 3)
    _, output, k, *states = to_integers(witness.values)
    assert output == (states[2] + k) * (states[2] + 2) % BN254.r
    assert [states[1], states[2]] == [(states[i] + k) * (states[i] + i) % BN254.r for i in range(2)]


def test_witness_is_full_width_or_bits():
    dense = to_integers(chain_circuit(BN254, 1000)[1].values)
    bits = to_integers(chain_circuit(BN254, 1000, "bits")[1].values)
    assert sum(value.bit_length() > 200 for value in dense) > 990
    assert sum(value in {0, 1} for value in bits) > 990
    mix = to_integers(chain_circuit(BN254, 1000, "mix")[1].values)
    assert sum(value.bit_length() > 200 for value in mix) > 490
    assert sum(value in {0, 1} for value in mix) > 490


def test_every_wire_matters():
    for kind in ("dense", "bits", "mix"):
        system, witness = chain_circuit(BN254, 30, kind)
        for wire in range(1, system.wires):
            changed = witness.values.copy()
            changed[wire, 0] ^= 6
            assert first_unsatisfied(system, changed) is not None, (kind, wire)


def test_same_seed_same_witness():
    first, second, other = (chain_circuit(BN254, 50, seed=seed)[1].values.tobytes() for seed in (1, 1, 2))
    assert first == second != other


@pytest.mark.parametrize(("constraints", "kind"), [(1, "dense"), (0, "bits"), (3, "mix"), (10, "sparse")])
def test_what_cannot_be_made(constraints, kind):
    with pytest.raises(ValueError, match=r"chain|sparse"):
        chain_circuit(BN254, constraints, kind)
