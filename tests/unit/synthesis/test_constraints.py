"""Evaluations of a key's constraint system, against Python's integers."""

import pytest

from proving.formats.r1cs import read_r1cs
from proving.formats.words import to_integers, to_words
from proving.groth16.setup import setup
from proving.synthesis.chain import chain_circuit
from proving.synthesis.constraints import evaluate

R = 1 << 256


def products(matrix, witness, prime):
    columns, values, starts = matrix.columns.tolist(), to_integers(matrix.values), matrix.row_ptr.tolist()
    return [
        sum(witness[columns[term]] * values[term] for term in range(starts[row], starts[row + 1])) * R % prime
        for row in range(len(starts) - 1)
    ]


def test_rows_are_the_matrices_times_the_witness(fixtures):
    for name in ("arrays", "arrays_bls12381", "silent"):
        system = read_r1cs(fixtures / "compiled" / f"{name}.r1cs")
        prime = system.curve.r
        witness = [1, *(pow(7, wire, prime) for wire in range(1, system.wires))]
        key = setup(system)
        found = evaluate(key, to_words(witness))
        statement = [value * R % prime for value in witness[: system.public_count + 1]]
        padding = key.domain_size - system.constraints - len(statement)
        expected_a = products(system.a, witness, prime) + statement + [0] * padding
        assert to_integers(found.a) == expected_a
        assert to_integers(found.b)[: system.constraints] == products(system.b, witness, prime)
        assert not any(to_integers(found.b)[system.constraints :])


def test_witness_of_another_length_is_refused(fixtures):
    system, witness = chain_circuit(read_r1cs(fixtures / "compiled" / "silent.r1cs").curve, 5)
    key = setup(system)
    with pytest.raises(ValueError, match=f"has {system.wires - 1} values, the key wants {system.wires}"):
        evaluate(key, witness.values[:-1])
