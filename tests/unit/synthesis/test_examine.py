"""A generator's curve without compiling it; what is none is refused for the same reasons."""

from pathlib import Path

import pytest

from kernels.curves import BLS12_381, BN254
from proving.synthesis.errors import SynthesisError, SynthesisErrorKind
from proving.synthesis.examine import examine_generator
from proving.synthesis.wasm import WitnessGenerator
from tests.conftest import REPOSITORY
from tests.unit.synthesis.test_generations import hide_exports

COMPILED = REPOSITORY / "tests" / "fixtures" / "compiled"


def test_every_generator_of_our_own(tmp_path: Path) -> None:
    for path in sorted(COMPILED.glob("*.wasm")):
        expected = BLS12_381 if "bls12381" in path.name else BN254
        assert examine_generator(path) is expected
    assert WitnessGenerator(path, cache_dir=tmp_path).curve is expected


@pytest.mark.shared
def test_every_generator_of_others(shared_fixtures: Path) -> None:
    paths = sorted(shared_fixtures.glob("**/*.wasm"))
    assert len(paths) > 12
    for path in paths:
        assert examine_generator(path) is (BLS12_381 if path.name.startswith("bls_") else BN254)


def refused(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(SynthesisError) as caught:
        examine_generator(path)
    assert caught.value.kind is SynthesisErrorKind.MODULE
    return caught.value.message


def test_what_is_no_generator(tmp_path: Path) -> None:
    good = (COMPILED / "multiplier.wasm").read_bytes()
    path = tmp_path / "g.wasm"
    assert "not a WebAssembly module" in refused(path, b"")
    assert "not a WebAssembly module" in refused(path, b"zkey" + good)
    assert "not a witness generator" in refused(path, b"\0asm\1\0\0\0")
    assert "not a witness generator" in refused(path, hide_exports(good, {"getWitness"}))
    refused(path, good[:-7])


def test_code_that_does_not_validate(tmp_path: Path) -> None:
    good = bytearray((COMPILED / "multiplier.wasm").read_bytes())
    place = good.rindex(b"\x0b", 0, len(good) // 2)  # the end of some function
    good[place] = 0xFF
    assert "not a WebAssembly module" in refused(tmp_path / "g.wasm", bytes(good))


def test_an_import_that_no_circom_needs(tmp_path: Path) -> None:
    good = (COMPILED / "multiplier.wasm").read_bytes()
    strange = good.replace(b"exceptionHandler", b"exceptionHandlex")
    assert "runtime.exceptionHandlex" in refused(tmp_path / "g.wasm", strange)


def test_a_prime_of_no_curve_is_left_to_running(tmp_path: Path) -> None:
    good = (COMPILED / "multiplier.wasm").read_bytes()
    path = tmp_path / "g.wasm"
    path.write_bytes(good.replace(BN254.r.to_bytes(32, "little"), (BN254.r + 2).to_bytes(32, "little")))
    assert examine_generator(path) is None
