"""One changed byte in any file: a refusal in one line, or a proof that verifies; never anything else."""

import contextlib
import io
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuzkweb.__main__ import main
from kernels.curves import BLS12_381, BN254, CURVES, Curve
from proving.formats.r1cs import write_r1cs
from proving.formats.wtns import Witness, write_witness
from tests.unit.commands.conftest import as_r1cs
from tests.unit.groth16.reference import product_chain, words

fuzzed = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def run(*arguments: object) -> tuple[int, str]:
    """The exit code and what was said on standard error."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = main([str(argument) for argument in arguments])
    return code, said.getvalue()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder with all files of a circuit for each curve."""
    return {curve.name: make(curve, tmp_path_factory.mktemp(curve.name)) for curve in CURVES}


def make(curve: Curve, folder: Path) -> Path:
    system, witness = product_chain(curve, 3)
    write_r1cs(folder / "r1cs", as_r1cs(system))
    write_witness(folder / "wtns", Witness(curve, words(witness)))
    keys = ["--zkey", folder / "zkey", "--vkey", folder / "vkey"]
    assert run("setup", "--r1cs", folder / "r1cs", *keys)[0] == 0
    if curve is BLS12_381:
        keys = ["--params", folder / "params", "--vkey", folder / "params.vkey"]
        assert run("setup", "--r1cs", folder / "r1cs", *keys)[0] == 0
    assert run("prove", *given_files(folder, "zkey"), *results(folder))[0] == 0
    return folder


def given_files(folder: Path, key: str) -> list[object]:
    if key == "alone":  # the short way from a zkey and a witness
        return ["--zkey", folder / "zkey", "--wtns", folder / "wtns"]
    return [f"--{key}", folder / key, "--r1cs", folder / "r1cs", "--wtns", folder / "wtns"]


def results(folder: Path) -> list[object]:
    return ["--proof", folder / "proof", "--public", folder / "public"]


def change(data: st.DataObject, path: Path) -> None:
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)


PROVED = [
    *((BN254, "zkey", name) for name in ("zkey", "wtns", "r1cs")),
    *((BLS12_381, "zkey", name) for name in ("zkey",)),
    *((curve, "alone", name) for curve in CURVES for name in ("zkey", "wtns")),
    *((BLS12_381, "params", name) for name in ("params", "wtns", "r1cs")),
]


@pytest.mark.parametrize(("curve", "key", "changed"), PROVED, ids=lambda value: getattr(value, "name", value))
@fuzzed
@given(data=st.data())
def test_proving(
    tmp_path: Path, made: dict[str, Path], curve: Curve, key: str, *, changed: str, data
) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(made[curve.name], folder, dirs_exist_ok=True)
    for name in ("proof", "public"):
        (folder / name).unlink(missing_ok=True)
    change(data, folder / changed)
    code, said = run("prove", *given_files(folder, key), *results(folder))
    if code == 0:
        vkey = made[curve.name] / ("params.vkey" if key == "params" else "vkey")
        assert run("verify", "--vkey", vkey, *results(folder))[0] == 0
    else:
        assert code == 1
        assert said.count("\n") == 1
        assert "unexpected" not in said
        assert not (folder / "proof").exists()


def test_the_short_way_leaves_a_key_without_its_ic_to_the_long_one(
    tmp_path: Path, made: dict[str, Path]
) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(made[BN254.name], folder)
    content = bytearray((folder / "zkey").read_bytes())
    content[content.index(b"\3\0\0\0\x80\0\0\0\0\0\0\0")] = 99  # section 3, two points of 64 bytes
    (folder / "zkey").write_bytes(content)
    code, said = run("prove", *given_files(folder, "alone"), *results(folder))
    assert code == 1
    assert "section 3 (IC) is missing" in said


@pytest.mark.parametrize("changed", ["proof", "public", "vkey"])
@fuzzed
@given(data=st.data())
def test_verifying(tmp_path: Path, made: dict[str, Path], changed: str, data) -> None:
    original = made[BN254.name]
    folder = tmp_path / "changed"
    shutil.copytree(original, folder, dirs_exist_ok=True)
    change(data, folder / changed)
    code, said = run("verify", "--vkey", folder / "vkey", *results(folder))
    if code == 0:  # white space, the name of the curve in another spelling, or what nobody reads
        reread, told = tmp_path / "reread", []
        if changed != "public":
            flag = "--vkey" if changed == "vkey" else "--proof"
            for source in (original, folder):
                target = ["--to", "arkworks", "--out", reread]
                assert run("convert", flag, source / changed, *target)[0] == 0
                told.append(reread.read_bytes())
            assert told[0] == told[1]
    else:
        assert code == 1
        assert said.count("\n") == 1
        assert "unexpected" not in said
