"""Constraint systems."""

import struct
from itertools import pairwise

import numpy as np
import pytest

from kernels.curves import BLS12_381, BN254
from proving.formats.container import encode_container
from proving.formats.errors import FormatError
from proving.formats.r1cs import encode_matrices, encode_r1cs, first_unsatisfied, read_r1cs, write_r1cs
from proving.formats.words import to_integers, to_words
from proving.formats.wtns import read_witness


def rows(matrix):
    """A matrix as lists of (wire, value)."""
    values = to_integers(matrix.values)
    terms = list(zip(matrix.columns.tolist(), values, strict=True))
    return [terms[start:end] for start, end in pairwise(matrix.row_ptr.tolist())]


def broken_rows(system, witness):
    """The rows that a witness breaks, by Python's integers."""
    prime = system.curve.r

    def products(matrix):
        return [sum(witness[wire] * value for wire, value in row) % prime for row in rows(matrix)]

    a, b, c = map(products, system.matrices)
    return [index for index in range(system.constraints) if a[index] * b[index] % prime != c[index]]


@pytest.mark.parametrize(("name", "curve"), [("multiplier", BN254), ("multiplier_bls12381", BLS12_381)])
def test_multiplier(compiled, name, curve):
    system = read_r1cs(compiled / f"{name}.r1cs")
    assert (system.curve, system.wires, system.constraints) == (curve, 4, 1)
    assert (system.outputs, system.public_inputs, system.private_inputs) == (1, 0, 2)
    assert system.public_count == 1
    # circom writes (-a) * b = -product
    assert rows(system.a) == [[(2, curve.r - 1)]]
    assert rows(system.b) == [[(3, 1)]]
    assert rows(system.c) == [[(1, curve.r - 1)]]


@pytest.mark.parametrize(
    ("name", "constraints", "wires", "public"),
    [
        ("silent", 1, 4, 0),
        ("rows14", 14, 16, 1),
        ("rows15", 15, 17, 1),
        ("arrays", 9, 19, 4),
        ("bus", 2, 7, 1),
    ],
)
def test_counts_are_the_compilers(compiled, name, constraints, wires, public):
    system = read_r1cs(compiled / f"{name}.r1cs")
    assert (system.constraints, system.wires, system.public_count) == (constraints, wires, public)


def test_writing_gives_the_compilers_bytes(compiled, tmp_path):
    for path in sorted(compiled.glob("*.r1cs")):
        system = read_r1cs(path)
        assert encode_matrices(system) in path.read_bytes()
        write_r1cs(tmp_path / path.name, system)
        again = read_r1cs(tmp_path / path.name)
        assert [rows(matrix) for matrix in again.matrices] == [rows(matrix) for matrix in system.matrices]


def file_of(tmp_path, *, wires=3, outputs=1, inputs=1, constraints=1, body=b"", extra=()):
    header = struct.pack("<I", 32) + BN254.r.to_bytes(32, "little")
    header += struct.pack("<IIIIQI", wires, outputs, 0, inputs, wires, constraints)
    path = tmp_path / "c.r1cs"
    sections = [(2, [body]), (1, [header]), *extra]
    path.write_bytes(b"".join(encode_container(b"r1cs", 1, sections)))
    return path


def combination(*terms):
    packed = b"".join(struct.pack("<I", wire) + value.to_bytes(32, "little") for wire, value in terms)
    return struct.pack("<I", len(terms)) + packed


GOOD = combination((1, 1)) + combination((2, 5)) + combination()


def refusal(path):
    with pytest.raises(FormatError) as caught:
        read_r1cs(path)
    return str(caught.value)


def test_smallest_system(tmp_path):
    system = read_r1cs(file_of(tmp_path, body=GOOD))
    assert [rows(matrix) for matrix in system.matrices] == [[[(1, 1)]], [[(2, 5)]], [[]]]


def test_no_constraints_at_all(tmp_path):
    system = read_r1cs(file_of(tmp_path, constraints=0))
    assert first_unsatisfied(system, to_words([1, 2, 3])) is None


def test_wire_out_of_bounds_is_named(tmp_path):
    body = GOOD + combination((1, 1)) + combination((0, 1), (3, 1)) + combination()
    assert "constraint 1, B: wire 3 of 3" in refusal(file_of(tmp_path, constraints=2, body=body))


def test_value_that_is_not_reduced_is_named(tmp_path):
    body = combination() + combination() + combination((0, BN254.r))
    assert "constraint 0, C: the coefficient is not below" in refusal(file_of(tmp_path, body=body))


@pytest.mark.parametrize("cut", [4, 8, 40, len(GOOD)])
def test_body_that_ends_early(tmp_path, cut):
    assert "section 2 (constraints)" in refusal(file_of(tmp_path, body=GOOD[:-cut]))


def test_terms_past_the_end(tmp_path):
    body = combination() + combination() + struct.pack("<I", 2**32 - 1)
    assert "constraint 0, C: the section ends within it" in refusal(file_of(tmp_path, body=body))


def test_count_of_constraints_is_held_against_the_body(tmp_path):
    assert "too short for 4294967295 constraints" in refusal(
        file_of(tmp_path, constraints=2**32 - 1, body=GOOD)
    )
    assert "4 bytes after the last constraint" in refusal(file_of(tmp_path, body=GOOD + bytes(4)))
    assert "not a whole number" in refusal(file_of(tmp_path, body=GOOD + b"x"))


def test_more_signals_than_wires(tmp_path):
    assert "3 wires cannot hold" in refusal(file_of(tmp_path, outputs=3, body=GOOD))


def test_private_inputs_may_have_no_wire(compiled):
    system = read_r1cs(compiled / "endless.r1cs")
    assert (system.wires, system.private_inputs) == (2, 1)


def test_custom_gates_are_refused(tmp_path):
    gates = [(4, [struct.pack("<I", 1) + b"gate\0" + struct.pack("<I", 0)])]
    assert "custom gates" in refusal(file_of(tmp_path, body=GOOD, extra=gates))
    none = [(4, [struct.pack("<I", 0)]), (5, [struct.pack("<I", 0)])]
    assert read_r1cs(file_of(tmp_path, body=GOOD, extra=none)).constraints == 1


@pytest.mark.parametrize("name", ["multiplier", "multiplier_bls12381"])
@pytest.mark.parametrize("witness", [[1, 33, 3, 11], [1, 34, 3, 11], [1, 0, 0, 0], [1, 1, 1, 0]])
def test_satisfaction_agrees_with_python(compiled, name, witness):
    system = read_r1cs(compiled / f"{name}.r1cs")
    expected = broken_rows(system, witness)
    assert first_unsatisfied(system, to_words(witness)) == (expected[0] if expected else None)


def test_first_of_several_broken_rows_is_named(compiled):
    system = read_r1cs(compiled / "rows14.r1cs")
    start = 3
    witness = [1, 0, start]
    for _ in range(13):
        witness.append(witness[-1] ** 2 % BN254.r)
    witness[1] = witness[-1] ** 2 % BN254.r
    assert broken_rows(system, witness) == []
    assert first_unsatisfied(system, to_words(witness)) is None
    for wire in range(1, 16):
        changed = [*witness]
        changed[wire] += 1
        assert first_unsatisfied(system, to_words(changed)) == broken_rows(system, changed)[0]


def test_witness_of_another_length(compiled):
    with pytest.raises(ValueError, match="has 3 values"):
        first_unsatisfied(read_r1cs(compiled / "multiplier.r1cs"), to_words([1, 2, 3]))


@pytest.mark.shared
def test_shipped_systems_and_their_witnesses(shared_fixtures):
    pairs = {
        "merkle20/merkle20.r1cs": "merkle20/merkle20.wtns",
        "bls_merkle20/bls_merkle20.r1cs": "bls_merkle20/bls_merkle20.wtns",
        "circom_runtime/circuit.r1cs": "circom_runtime/golden/witness.wtns",
        "darkforest-whitelist/whitelist.r1cs": "darkforest-whitelist/golden/witness.wtns",
        "edge/nopub/nopub.r1cs": "edge/nopub/nopub.wtns",
        "edge/mul13/mul13.r1cs": "edge/mul13/mul13.wtns",
    }
    for constraints, witness in pairs.items():
        system = read_r1cs(shared_fixtures / constraints)
        values = read_witness(shared_fixtures / witness, system.curve, system.wires).values
        assert first_unsatisfied(system, values) is None, constraints
        changed = np.array(values)
        changed[-1, 0] ^= 1
        assert first_unsatisfied(system, changed) is not None, constraints


@pytest.mark.shared
def test_shipped_unsatisfying_witness(shared_fixtures):
    edge = shared_fixtures / "edge"
    system = read_r1cs(edge / "mul13" / "mul13.r1cs")
    witness = read_witness(edge / "malformed" / "x_unsat.wtns").values
    assert first_unsatisfied(system, witness) == broken_rows(system, to_integers(witness))[0]


@pytest.mark.shared
def test_shipped_systems_write_their_own_sections(shared_fixtures):
    for path in shared_fixtures.rglob("*.r1cs"):
        system = read_r1cs(path)
        assert encode_matrices(system) in path.read_bytes(), path
        assert len(b"".join(encode_r1cs(system))) == path.stat().st_size, path
