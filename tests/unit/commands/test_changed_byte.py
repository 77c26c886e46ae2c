"""One changed byte in any file: a refusal in one line, or a proof that verifies; never anything else."""

import contextlib
import io
import shutil
from collections import Counter
from pathlib import Path

import pytest

from cuzkweb.__main__ import main
from kernels.curves import BLS12_381, BN254, CURVES, Curve
from proving.formats.r1cs import write_r1cs
from proving.formats.snarkjs import read_public
from proving.formats.wtns import Witness, write_witness
from tests.support.changes import EVERY_BYTE, changed
from tests.unit.commands.conftest import as_r1cs
from tests.unit.groth16.reference import product_chain, words

pytestmark = pytest.mark.timeout(0 if EVERY_BYTE else 300)
SAMPLE = 12


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
    system, witness = product_chain(curve, 2)
    write_r1cs(folder / "r1cs", as_r1cs(system))
    write_witness(folder / "wtns", Witness(curve, words(witness)))
    keys = ["--zkey", folder / "zkey", "--vkey", folder / "vkey"]
    assert run("setup", "--r1cs", folder / "r1cs", *keys)[0] == 0
    if curve is BLS12_381:
        keys = ["--params", folder / "params", "--vkey", folder / "params.vkey"]
        assert run("setup", "--r1cs", folder / "r1cs", *keys)[0] == 0
    assert run("prove", *given_files(folder, "zkey"), *results(folder))[0] == 0
    for name in FORMS[curve.name]:
        what, form = name.split(".")
        source = "zkey" if what == "vkey" else "proof"
        target = ["--to", form, "--out", folder / name, "--public", folder / "public"]
        assert run("convert", f"--{what}", folder / source, *target)[0] == 0
    return folder


COMMON = [f"{what}.{form}" for what in ("proof", "vkey") for form in ("arkworks", "gnark", "gnark-raw")]
FORMS = {
    BN254.name: [*COMMON, "proof.arkworks-uncompressed", "proof.calldata"],
    BLS12_381.name: [*COMMON, "proof.bellman", "vkey.bellman"],
}
"""Other forms of proof and verifying key, by curve."""


def given_files(folder: Path, key: str) -> list[object]:
    if key == "alone":  # the short way from a zkey and a witness
        return ["--zkey", folder / "zkey", "--wtns", folder / "wtns"]
    return [f"--{key}", folder / key, "--r1cs", folder / "r1cs", "--wtns", folder / "wtns"]


def results(folder: Path) -> list[object]:
    return ["--proof", folder / "proof", "--public", folder / "public"]


PROVED = [
    *((BN254, "zkey", name) for name in ("zkey", "wtns", "r1cs")),
    *((BLS12_381, "zkey", name) for name in ("zkey",)),
    *((curve, "alone", name) for curve in CURVES for name in ("zkey", "wtns")),
    *((BLS12_381, "params", name) for name in ("params", "wtns", "r1cs")),
]


@pytest.mark.parametrize(("curve", "key", "name"), PROVED, ids=lambda value: getattr(value, "name", value))
def test_proving(tmp_path: Path, made: dict[str, Path], curve: Curve, key: str, name: str) -> None:
    folder = copy(made[curve.name], tmp_path)
    vkey = made[curve.name] / ("params.vkey" if key == "params" else "vkey")
    codes: Counter[int] = Counter()
    for content in changed((folder / name).read_bytes(), SAMPLE):
        (folder / name).write_bytes(content)
        codes[prove_or_refuse(folder, key, vkey)] += 1
    print(f"{curve.name}, {name} (by {key}): {codes[1]} refused, {codes[0]} proved and verified")


def copy(folder: Path, into: Path) -> Path:
    return Path(shutil.copytree(folder, into / "changed"))


def prove_or_refuse(folder: Path, key: str, vkey: Path) -> int:
    """The exit code of proving; a proof verifies with the key that was there first."""
    for name in ("proof", "public"):
        (folder / name).unlink(missing_ok=True)
    code, said = run("prove", *given_files(folder, key), *results(folder))
    if code == 0:
        assert run("verify", "--vkey", vkey, *results(folder))[0] == 0
    else:
        assert_refused(code, said)
        assert not (folder / "proof").exists()
    return code


def assert_refused(code: int, said: str) -> None:
    """One line, and none that admits a fault of the program's own."""
    assert code == 1
    assert said.count("\n") == 1
    assert "unexpected" not in said


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


VERIFIED = [(curve, name) for curve in CURVES for name in ("proof", "public", "vkey", *FORMS[curve.name])]


@pytest.mark.parametrize(("curve", "name"), VERIFIED, ids=lambda value: getattr(value, "name", value))
def test_verifying(tmp_path: Path, made: dict[str, Path], curve: Curve, name: str) -> None:
    folder = copy(made[curve.name], tmp_path)
    given = {"vkey": folder / "vkey", "proof": folder / "proof", "public": folder / "public"}
    what = name.split(".", maxsplit=1)[0]
    given[what] = folder / name
    codes: Counter[int] = Counter()
    for content in changed((folder / name).read_bytes(), SAMPLE):
        (folder / name).write_bytes(content)
        code, said = run("verify", *(f"--{flag}={path}" for flag, path in given.items()))
        codes[code] += 1
        if code == 0:
            assert meaning(what, folder / name) == meaning(what, made[curve.name] / name)
        else:
            assert_refused(code, said)
    print(f"{curve.name}, {name}: {codes[1]} refused, {codes[0]} valid, for they mean the same")


def meaning(what: str, path: Path) -> bytes | list[int]:
    """What a file says, however it is spelt."""
    if what == "public":
        return read_public(path)
    target = path.with_name("meaning")
    assert run("convert", f"--{what}", path, "--to", "arkworks", "--out", target)[0] == 0
    return target.read_bytes()
