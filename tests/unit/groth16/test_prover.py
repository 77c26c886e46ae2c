"""Proofs verify by the book, differ every time, and are never handed out when they would not verify."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from kernels.curves import BN254, Curve
from kernels.device import Cancelled, Device, Stage
from proving.formats.snarkjs import proof_to_json, public_to_json, verifying_key_to_json
from proving.groth16 import assembly
from proving.groth16.prover import Step, UnsatisfiedWitnessError, prove
from proving.groth16.setup import setup
from tests.unit.groth16.reference import product_chain, verifies, words


def test_a_proof_verifies_by_the_book(proved) -> None:
    key, statement = proved
    assert verifies(key.verifying_key, statement.proof, statement.public)
    assert not verifies(key.verifying_key, statement.proof, [statement.public[0] ^ 1])


@pytest.mark.node
def test_a_proof_verifies_with_snarkjs(proved, snarkjs) -> None:
    key, statement = proved
    vkey, proof = verifying_key_to_json(key.verifying_key), proof_to_json(statement.proof)
    assert snarkjs.verify(vkey, public_to_json(statement.public), proof)
    assert not snarkjs.verify(vkey, [str(statement.public[0] ^ 1)], proof)


def test_a_circuit_without_public_signals(curve: Curve, host: Device) -> None:
    system, witness = product_chain(curve, 4, public_count=0)
    key = setup(system)
    statement = prove(host, key, words(witness))
    assert statement.public == ()
    assert len(key.ic) == 1
    assert verifies(key.verifying_key, statement.proof, [])


@pytest.mark.parametrize("length", [1, 2, 5, 6, 13, 14, 100])
def test_sizes_around_powers_of_two(curve: Curve, host: Device, length: int) -> None:
    system, witness = product_chain(curve, length)
    assert prove(host, setup(system), words(witness)).public == (witness[1],)


def test_two_proofs_of_one_statement_differ(proved, curve: Curve, host: Device) -> None:
    key, first = proved
    _, witness = product_chain(curve, 5)
    second = prove(host, key, words(witness))
    assert first.public == second.public
    assert first.proof.a != second.proof.a
    assert first.proof.b != second.proof.b
    assert first.proof.c != second.proof.c


def test_blinding_scalars_are_drawn_from_the_whole_field(
    monkeypatch: pytest.MonkeyPatch, curve: Curve
) -> None:
    drawn: list[int] = []
    monkeypatch.setattr(assembly.secrets, "randbelow", lambda limit: drawn.append(limit) or limit - 1)
    assert assembly.draw_scalar(curve) == curve.r - 1
    assert drawn == [curve.r]


def test_blinding_scalars_are_uniform(curve: Curve) -> None:
    """16 equal parts of [0, r): chi-squared with 15 degrees of freedom is above 70 once in 10^8 runs."""
    count = 8000
    found = [16 * assembly.draw_scalar(curve) // curve.r for _ in range(count)]
    expected = count / 16
    assert sum((found.count(part) - expected) ** 2 / expected for part in range(16)) < 70


def test_a_witness_that_satisfies_nothing_gives_no_proof(proved, curve: Curve, host: Device) -> None:
    key, _ = proved
    _, witness = product_chain(curve, 5)
    witness[3] += 1
    with pytest.raises(UnsatisfiedWitnessError, match="witness does not satisfy the circuit"):
        prove(host, key, words(witness))


def test_a_witness_of_another_length_is_refused_with_both_lengths(proved, curve: Curve, host: Device) -> None:
    key, _ = proved
    with pytest.raises(ValueError, match="witness has 4 values, key wants 7"):
        prove(host, key, words([1, 2, 3, 4]))


def test_every_step_is_reported_once_in_order(proved, curve: Curve, host: Device) -> None:
    key, _ = proved
    _, witness = product_chain(curve, 5)
    heard: list[tuple[Stage | Step, float]] = []
    prove(host, key, words(witness), report=lambda stage, seconds: heard.append((stage, seconds)))
    assert [stage for stage, _ in heard] == [Step.EVALUATE, *Stage, Step.LOAD, Step.ASSEMBLE, Step.VERIFY]
    assert all(seconds >= 0 for _, seconds in heard)


def test_a_cancelled_proof_stops_between_stages(proved, curve: Curve, host: Device) -> None:
    key, _ = proved
    _, witness = product_chain(curve, 5)
    heard: list[Stage | Step] = []
    with pytest.raises(Cancelled):
        prove(
            host,
            key,
            words(witness),
            cancelled=lambda: Stage.B1 in heard,
            report=lambda stage, _seconds: heard.append(stage),
        )
    assert heard == [Step.EVALUATE, Stage.QUOTIENT, Stage.A, Stage.B1, Stage.B2]  # these go together


def test_the_witness_and_the_evaluations_are_left_alone(proved, curve: Curve, host: Device) -> None:
    from kernels.constraints import evaluate
    from proving.groth16.prover import prove_sums

    key, _ = proved
    values = words(product_chain(curve, 5)[1])
    a, b = evaluate(curve, key.coefficients, values, key.domain_size, 1)
    before = [array.copy() for array in (values, a, b)]
    for array in (values, a, b):
        array.setflags(write=False)
    prove_sums(host, key, values, a, b)
    assert all(np.array_equal(old, new) for old, new in zip(before, (values, a, b), strict=True))


PORTABLE = """
import json, sys
from kernels.curves import BN254
from kernels.device import open_device
from kernels.engine import engine_name
from proving.formats.snarkjs import proof_to_json, verifying_key_to_json
from proving.groth16.prover import prove
from proving.groth16.setup import setup
from tests.unit.groth16.reference import product_chain, words

system, witness = product_chain(BN254, 30)
key = setup(system)
statement = prove(open_device("host"), key, words(witness))
print(json.dumps({
    "engine": engine_name(),
    "proof": proof_to_json(statement.proof),
    "public": [str(value) for value in statement.public],
    "vkey": verifying_key_to_json(key.verifying_key),
}))
"""


def test_the_portable_engine_proves_what_the_fast_one_verifies() -> None:
    from proving.formats.snarkjs import proof_from_json, public_from_json, verifying_key_from_json
    from proving.groth16.verifier import verify
    from tests.conftest import REPOSITORY

    done = subprocess.run(
        [sys.executable, "-c", PORTABLE],
        cwd=REPOSITORY,
        env={**os.environ, "CUZKWEB_ENGINE": "portable"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["engine"] == "portable"
    key = verifying_key_from_json(made["vkey"])
    public = public_from_json(made["public"])
    assert public == [product_chain(BN254, 30)[1][1]]
    assert verify(key, proof_from_json(made["proof"]), public).valid
