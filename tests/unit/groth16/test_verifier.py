"""The verifier accepts what py_ecc accepts and names what is wrong with everything else."""

from dataclasses import replace
from typing import Any

import pytest

from kernels.curves import BLS12_381, BN254, Curve
from proving.groth16 import verifier
from proving.groth16.objects import G1, G2, Proof, VerifyingKey
from proving.groth16.prover import ProvedStatement, prove
from proving.groth16.verifier import Check, verify, verify_batch
from tests.unit.groth16.reference import (
    LIBRARIES,
    group_point,
    plain_point,
    product_chain,
    times,
    verifies,
    words,
)


def add(curve: Curve, left: G1, right: G1) -> G1:
    library = LIBRARIES[curve.name]
    return plain_point(curve, library.add(group_point(curve, left), group_point(curve, right)))


def negative(curve: Curve, point: tuple[int, int]) -> G1:
    return point[0], curve.q - point[1]


def square_root(curve: Curve, value: int) -> int | None:
    root = pow(value, (curve.q + 1) // 4, curve.q)
    return root if root * root % curve.q == value % curve.q else None


def square_root_fq2(curve: Curve, value: tuple[int, int]) -> tuple[int, int] | None:
    """By the norm: x^2 = (c0 +- sqrt(c0^2 + c1^2)) / 2 and y = c1 / (2 x)."""
    norm = square_root(curve, value[0] ** 2 + value[1] ** 2)
    if norm is None:
        return None
    for sign in (1, -1):
        x = square_root(curve, (value[0] + sign * norm) * pow(2, -1, curve.q) % curve.q)
        if x:
            return x, value[1] * pow(2 * x, -1, curve.q) % curve.q
    return None


def g1_outside_subgroup(curve: Curve) -> G1:
    for x in range(1, 100):
        y = square_root(curve, x**3 + curve.b1)
        if y is not None and plain_point(curve, times_order(curve, (x, y), 1)) is not None:
            return x, y
    raise AssertionError


def g2_outside_subgroup(curve: Curve) -> G2:
    for x in range(1, 100):
        right = (x**3 + curve.b2[0]) % curve.q, curve.b2[1]
        y = square_root_fq2(curve, right)
        if y is not None and plain_point(curve, times_order(curve, ((x, 0), y), 2)) is not None:
            return (x, 0), y
    raise AssertionError


def times_order(curve: Curve, point: G1 | G2, group: int):
    return LIBRARIES[curve.name].multiply(group_point(curve, point, group), curve.r)


def assert_failed(key: VerifyingKey, statement: ProvedStatement, check: Check, word: str, **changes) -> None:
    proof = replace(statement.proof, **changes)
    verdict = verify(key, proof, statement.public)
    assert verdict.failed is check
    assert not verdict.valid
    assert word in verdict.reason


def test_a_valid_proof(proved) -> None:
    key, statement = proved
    verdict = verify(key.verifying_key, statement.proof, statement.public)
    assert verdict.valid
    assert verdict.failed is None
    assert verdict.reason == "valid"


def test_other_points_of_the_groups_fail_the_pairing(proved, curve: Curve) -> None:
    key, statement = proved
    vkey, proof = key.verifying_key, statement.proof
    for changes in (
        {"a": times(curve, 1, 5)},
        {"a": negative(curve, proof.a)},
        {"b": times(curve, 2, 5)},
        {"c": times(curve, 1, 5)},
        {"a": proof.c, "c": proof.a},
    ):
        assert_failed(vkey, statement, Check.PAIRING, "pairing", **changes)


def test_both_signs_of_a_and_b_flipped_is_the_same_proof(proved, curve: Curve) -> None:
    key, statement = proved
    proof = statement.proof
    (x, (y0, y1)) = proof.b
    flipped = replace(proof, a=negative(curve, proof.a), b=(x, (curve.q - y0, curve.q - y1)))
    assert verify(key.verifying_key, flipped, statement.public).valid
    assert verifies(key.verifying_key, flipped, statement.public)


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_infinity_is_a_group_member_and_proves_nothing(proved, name: str) -> None:
    key, statement = proved
    assert_failed(key.verifying_key, statement, Check.PAIRING, "pairing", **{name: None})


def test_all_points_at_infinity_prove_nothing(proved) -> None:
    key, statement = proved
    assert_failed(key.verifying_key, statement, Check.PAIRING, "pairing", a=None, b=None, c=None)


def test_points_off_the_curve(proved, curve: Curve) -> None:
    key, statement = proved
    proof = statement.proof
    vkey = key.verifying_key
    assert_failed(vkey, statement, Check.ON_CURVE, "A", a=(proof.a[0], (proof.a[1] + 1) % curve.q))
    (x, (y0, y1)) = proof.b
    assert_failed(vkey, statement, Check.ON_CURVE, "B", b=(x, (y0, (y1 + 1) % curve.q)))
    assert_failed(vkey, statement, Check.ON_CURVE, "C", c=(1, 1))
    assert_failed(vkey, statement, Check.ON_CURVE, "C", c=(0, 0))


def test_coordinates_not_below_the_modulus(proved, curve: Curve) -> None:
    key, statement = proved
    x, y = statement.proof.a
    assert_failed(key.verifying_key, statement, Check.ON_CURVE, "A", a=(x + curve.q, y))
    assert_failed(key.verifying_key, statement, Check.ON_CURVE, "A", a=(x, -1))


def test_points_outside_the_subgroup(proved, curve: Curve) -> None:
    key, statement = proved
    vkey = key.verifying_key
    assert_failed(vkey, statement, Check.SUBGROUP, "B", b=g2_outside_subgroup(curve))
    if curve is BLS12_381:
        assert_failed(vkey, statement, Check.SUBGROUP, "A", a=g1_outside_subgroup(curve))
        assert_failed(vkey, statement, Check.SUBGROUP, "C", c=g1_outside_subgroup(curve))


def test_public_inputs_not_below_r_are_refused_even_when_congruent(proved, curve: Curve) -> None:
    key, statement = proved
    (value,) = statement.public
    for alias in (value + curve.r, value - curve.r, curve.r):
        verdict = verify(key.verifying_key, statement.proof, [alias])
        assert verdict.failed is Check.PUBLIC_RANGE


@pytest.mark.parametrize("extra", [[], [0, 0]])
def test_wrong_number_of_public_inputs(proved, extra: list[int]) -> None:
    key, statement = proved
    public = [*statement.public, *extra] if extra else []
    verdict = verify(key.verifying_key, statement.proof, public)
    assert verdict.failed is Check.PUBLIC_COUNT
    assert f"{len(public)} public inputs, key wants 1" in verdict.reason


def test_a_changed_public_input_fails_the_pairing(proved, curve: Curve) -> None:
    key, statement = proved
    verdict = verify(key.verifying_key, statement.proof, [(statement.public[0] + 1) % curve.r])
    assert verdict.failed is Check.PAIRING


def test_a_proof_on_another_curve(proved, curve: Curve) -> None:
    key, statement = proved
    other = BN254 if curve is BLS12_381 else BLS12_381
    verdict = verify(key.verifying_key, Proof(other, None, None, None), statement.public)
    assert verdict.failed is Check.CURVE


def test_a_broken_verifying_key_is_named(proved, curve: Curve) -> None:
    key, statement = proved
    vkey = key.verifying_key
    for changes, word in (
        ({"gamma_g2": None}, "gamma_g2"),
        ({"delta_g2": None}, "delta_g2"),
        ({"alpha_g1": None}, "alpha_g1"),
        ({"beta_g2": g2_outside_subgroup(curve)}, "beta_g2"),
        ({"ic": (vkey.ic[0], (1, 1))}, "ic[1]"),
    ):
        verdict = verify(replace(vkey, **changes), statement.proof, statement.public)
        assert verdict.failed is Check.VERIFYING_KEY
        assert word in verdict.reason


@pytest.fixture(scope="module")
def batch(proved, curve: Curve, host) -> tuple[VerifyingKey, list[Proof], list[tuple[int, ...]]]:
    key, _ = proved
    _, witness = product_chain(curve, 5)
    statements = [prove(host, key, words(witness)) for _ in range(5)]
    proofs = [statement.proof for statement in statements]
    return key.verifying_key, proofs, [statement.public for statement in statements]


def test_a_batch_of_valid_proofs(batch) -> None:
    verdict = verify_batch(*batch)
    assert verdict.valid
    assert verdict.bad == ()


def test_an_empty_batch_is_valid(batch) -> None:
    assert verify_batch(batch[0], [], []).valid


def test_a_batch_of_one(batch) -> None:
    key, proofs, publics = batch
    assert verify_batch(key, proofs[:1], publics[:1]).valid
    assert not verify_batch(key, proofs[:1], [(0,)]).valid


@pytest.mark.parametrize("bad", [(0,), (3,), (4,), (1, 3), (0, 1, 2, 3, 4)])
def test_bad_proofs_are_found_by_index(batch, curve: Curve, bad: tuple[int, ...]) -> None:
    key, proofs, publics = batch
    mixed = [replace(proof, c=times(curve, 1, 9)) if i in bad else proof for i, proof in enumerate(proofs)]
    verdict = verify_batch(key, mixed, publics)
    assert not verdict.valid
    assert [(index, found.failed) for index, found in verdict.bad] == [
        (index, Check.PAIRING) for index in bad
    ]


def test_errors_that_cancel_without_random_weights_are_found(batch, curve: Curve) -> None:
    key, proofs, publics = batch
    error = times(curve, 1, 123456789)
    mixed = list(proofs)
    mixed[1] = replace(proofs[1], c=add(curve, proofs[1].c, error))
    mixed[2] = replace(proofs[2], c=add(curve, proofs[2].c, negative(curve, error)))
    assert [index for index, _ in verify_batch(key, mixed, publics).bad] == [1, 2]


def test_a_batch_names_every_kind_of_fault(batch, curve: Curve) -> None:
    key, proofs, publics = batch
    mixed = [replace(proofs[0], a=(1, 1)), *proofs[1:]]
    statements = [publics[0], (curve.r,), publics[2], (1,), ()]
    verdict = verify_batch(key, mixed, statements)
    assert [(index, found.failed) for index, found in verdict.bad] == [
        (0, Check.ON_CURVE),
        (1, Check.PUBLIC_RANGE),
        (3, Check.PAIRING),
        (4, Check.PUBLIC_COUNT),
    ]
    assert "proof 3: the pairing check fails" in verdict.reason


def test_a_batch_with_a_broken_key_blames_every_proof(batch) -> None:
    key, proofs, publics = batch
    verdict = verify_batch(replace(key, gamma_g2=None), proofs, publics)
    assert [index for index, _ in verdict.bad] == [0, 1, 2, 3, 4]


def test_a_batch_needs_as_many_inputs_as_proofs(batch) -> None:
    key, proofs, publics = batch
    with pytest.raises(ValueError, match="5 proofs came with 4"):
        verify_batch(key, proofs, publics[:4])


class Counted:
    """The products of pairings that were asked for: Miller loops of fresh points, and along kept lines."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.products: list[tuple[int, int]] = []
        self.ask = verifier.prepared_product_is_one
        monkeypatch.setattr(verifier, "prepared_product_is_one", self.count)

    def count(self, curve: Curve, pairs: Any, prepared: Any, looped: Any = None) -> bool:
        self.products.append((len(pairs), len(prepared)))
        return self.ask(curve, pairs, prepared, looped)


def test_one_proof_takes_one_fresh_miller_loop_and_one_final_exponentiation(
    proved, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, statement = proved
    counted = Counted(monkeypatch)
    assert verify(key.verifying_key, statement.proof, statement.public).valid
    assert counted.products == [(1, 2)]


@pytest.mark.parametrize("count", [1, 2, 7])
def test_a_batch_takes_one_product_of_three_more_miller_loops_than_proofs(
    proved, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, statement = proved
    counted = Counted(monkeypatch)
    assert verify_batch(key.verifying_key, [statement.proof] * count, [statement.public] * count).valid
    assert counted.products == [(count, 3)]


def test_a_bad_proof_is_found_by_halving(proved, curve: Curve, monkeypatch: pytest.MonkeyPatch) -> None:
    key, statement = proved
    proofs = [statement.proof] * 8
    proofs[5] = replace(statement.proof, c=times(curve, 1, 5))
    counted = Counted(monkeypatch)
    verdict = verify_batch(key.verifying_key, proofs, [statement.public] * 8)
    assert [index for index, _ in verdict.bad] == [5]
    assert [fresh for fresh, _ in counted.products] == [8, 4, 4, 2, 1, 1, 2]
