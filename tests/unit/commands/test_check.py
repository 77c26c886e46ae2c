"""cuzkweb check says what a file is; what is wrong goes to standard error with exit code 1."""

import json
from pathlib import Path

import pytest

from tests.unit.commands.conftest import Call, Circuit


def test_a_development_key_says_that_it_is_insecure(circuit: Circuit, call: Call) -> None:
    assert call("check", circuit.zkey) == 0
    assert "insecure" in call.out.lower()
    assert circuit.curve.name in call.out


def test_programs_are_told_the_same(circuit: Circuit, tmp_path: Path, call: Call) -> None:
    assert call("check", circuit.zkey, "--json") == 0
    told = json.loads(call.out)
    assert (told["file"], told["problems"]) == (str(circuit.zkey), [])
    assert circuit.curve.name in str(told["facts"])
    cut = tmp_path / "cut.zkey"
    cut.write_bytes(circuit.zkey.read_bytes()[:-200])
    assert call("check", cut, "--json") == 1
    assert json.loads(call.out)["problems"]


@pytest.mark.parametrize("name", ["r1cs", "wtns", "vkey"])
def test_sound_files(circuit: Circuit, call: Call, name: str) -> None:
    path: Path = getattr(circuit, name)
    assert call("check", path) == 0
    assert call.err == ""
    assert call.out


def test_a_cut_off_key(circuit: Circuit, tmp_path: Path, call: Call) -> None:
    cut = tmp_path / "cut.zkey"
    cut.write_bytes(circuit.zkey.read_bytes()[:-200])
    assert call("check", cut) == 1
    assert "cut.zkey" in call.err
    assert "Traceback" not in call.err


def test_a_key_with_a_point_that_is_in_no_group(circuit: Circuit, tmp_path: Path, call: Call) -> None:
    from proving.formats.zkey import read_zkey

    body = bytearray(circuit.zkey.read_bytes())
    body[bytes(body).index(read_zkey(circuit.zkey).points.b2[2].tobytes())] ^= 1
    broken = tmp_path / "broken.zkey"
    broken.write_bytes(body)
    assert call("check", broken) == 1
    assert "point 2" in call.err


@pytest.mark.parametrize(
    "content", [b"", b"\x00", b"zkey", b"zkey" + b"\xff" * 40, b"not a file that we know"]
)
def test_files_of_no_known_kind(tmp_path: Path, call: Call, content: bytes) -> None:
    path = tmp_path / "strange"
    path.write_bytes(content)
    assert call("check", path) == 1
    assert str(path) in call.err


def test_no_file(tmp_path: Path, call: Call) -> None:
    missing = tmp_path / "missing"
    call.assert_refused("check", missing, because=f"{missing}: No such file or directory")
