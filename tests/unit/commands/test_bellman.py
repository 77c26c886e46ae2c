"""Parameters of bellman on the command line: made, proved with, checked against their constraint system."""

import json
from pathlib import Path

import pytest

from kernels.curves import BLS12_381, BN254
from proving.formats.bellman import read_parameters
from proving.formats.r1cs import write_r1cs
from proving.formats.wtns import Witness, write_witness
from tests.unit.commands.conftest import Call, as_r1cs
from tests.unit.groth16.reference import product_chain, words


class Files:
    """A circuit's files under a folder."""

    def __init__(self, folder: Path) -> None:
        self.r1cs, self.wtns = folder / "c.r1cs", folder / "w.wtns"
        self.params, self.vkey = folder / "k.params", folder / "v.json"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    from cuzkweb.__main__ import main

    made = Files(tmp_path_factory.mktemp("bellman"))
    system, witness = product_chain(BLS12_381, 9)
    write_r1cs(made.r1cs, as_r1cs(system))
    write_witness(made.wtns, Witness(BLS12_381, words(witness)))
    arguments = ["--r1cs", str(made.r1cs), "--params", str(made.params), "--vkey", str(made.vkey)]
    assert main(["setup", *arguments]) == 0
    return made


def prove(files: Files, folder: Path, **changed: Path) -> list[object]:
    given = {"params": files.params, "r1cs": files.r1cs, "wtns": files.wtns, **changed}
    options = [word for name, path in given.items() for word in (f"--{name}", path)]
    return ["prove", *options, "--proof", folder / "proof.json", "--public", folder / "public.json"]


def test_a_proof_from_parameters_verifies(files: Files, tmp_path: Path, call: Call) -> None:
    assert call(*prove(files, tmp_path)) == 0
    assert json.loads((tmp_path / "proof.json").read_text())["curve"] == "bls12381"
    key = [files.vkey, files.params]  # a parameters file holds its verifying key
    for vkey in key:
        outcome = ["--proof", tmp_path / "proof.json", "--public", tmp_path / "public.json"]
        assert call("verify", "--vkey", vkey, *outcome) == 0


def test_check_says_what_parameters_are(files: Files, call: Call) -> None:
    assert call("check", files.params) == 0
    assert "bellman" in call.out
    assert "16 (2^4)" in call.out


def test_parameters_want_their_constraints(files: Files, tmp_path: Path, call: Call) -> None:
    with pytest.raises(SystemExit) as left:
        call(
            "prove", "--params", files.params, "--wtns", files.wtns, "--proof", tmp_path, "--public", tmp_path
        )
    assert left.value.code == 2


@pytest.mark.parametrize(("length", "public"), [(8, 1), (10, 1), (9, 0), (16, 1)])
def test_another_circuit_is_refused_before_proving(
    files: Files, tmp_path: Path, call: Call, length: int, public: int
) -> None:
    system, _ = product_chain(BLS12_381, length, public)
    other = tmp_path / "other.r1cs"
    write_r1cs(other, as_r1cs(system))
    call.assert_refused(*prove(files, tmp_path, r1cs=other), because="not the parameters of this circuit")
    assert not (tmp_path / "proof.json").exists()


def test_a_circuit_that_uses_other_wires_is_refused(files: Files, tmp_path: Path, call: Call) -> None:
    from dataclasses import replace

    system, _ = product_chain(BLS12_381, 9)
    rows = list(system.rows)
    rows[0] = (rows[0][0], ((0, 1),), rows[0][2])  # wire 2 stands in no B any more
    other = tmp_path / "other.r1cs"
    write_r1cs(other, as_r1cs(replace(system, rows=tuple(rows))))
    call.assert_refused(*prove(files, tmp_path, r1cs=other), because="b_g1 query")


def test_a_circuit_of_the_same_shape_is_told_from_a_bad_witness(
    files: Files, tmp_path: Path, call: Call
) -> None:
    from dataclasses import replace

    system, witness = product_chain(BLS12_381, 9)
    rows = list(system.rows)
    rows[0] = (rows[0][0], rows[0][1], ((rows[0][2][0][0], 2),))  # twice the product
    other, wtns = tmp_path / "other.r1cs", tmp_path / "other.wtns"
    write_r1cs(other, as_r1cs(replace(system, rows=tuple(rows))))
    values = list(witness)
    half = pow(2, -1, BLS12_381.r)
    step = values[2]
    values[3] = (step + 3) * (2 * step - 1) * half % BLS12_381.r
    for index in range(4, len(values)):
        values[index] = (values[index - 1] + 3) * (2 * values[index - 1] - 1) % BLS12_381.r
    values[1] = (values[-1] + 3) * (2 * values[-1] - 1) % BLS12_381.r
    write_witness(wtns, Witness(BLS12_381, words(values)))
    call.assert_refused(
        *prove(files, tmp_path, r1cs=other, wtns=wtns), because="not the parameters of this circuit"
    )
    assert not (tmp_path / "proof.json").exists()


def test_a_broken_constraint_is_named(files: Files, tmp_path: Path, call: Call) -> None:
    _, witness = product_chain(BLS12_381, 9)
    witness[5] += 1
    wtns = tmp_path / "bad.wtns"
    write_witness(wtns, Witness(BLS12_381, words(witness)))
    call.assert_refused(*prove(files, tmp_path, wtns=wtns), because="constraint 2 is broken")


def test_setup_for_another_curve_is_refused(tmp_path: Path, call: Call) -> None:
    system, _ = product_chain(BN254, 3)
    write_r1cs(tmp_path / "c.r1cs", as_r1cs(system))
    arguments = ["--r1cs", tmp_path / "c.r1cs", "--params", tmp_path / "k"]
    call.assert_refused("setup", *arguments, because="bellman parameters are on bls12-381")


def test_parameters_are_not_marked_but_the_person_is_warned(files: Files, tmp_path: Path, call: Call) -> None:
    assert call("setup", "--r1cs", files.r1cs, "--params", tmp_path / "k") == 0
    assert "insecure development key" in call.err
    assert read_parameters(tmp_path / "k").contributions is None
