"""cuzkweb setup: keys that prove, and that say of themselves that they are insecure."""

from pathlib import Path

from proving.formats.snarkjs import read_verifying_key
from proving.formats.zkey import read_zkey
from tests.unit.commands.conftest import Call, Circuit


def test_the_verifying_key_is_the_proving_keys(circuit: Circuit) -> None:
    assert read_verifying_key(circuit.vkey) == read_zkey(circuit.zkey).verifying_key


def test_a_warning_is_shown_and_the_key_is_marked(circuit: Circuit, tmp_path: Path, call: Call) -> None:
    zkey = tmp_path / "another.zkey"
    assert call("setup", "--r1cs", circuit.r1cs, "--zkey", zkey) == 0
    assert "insecure development key" in call.err
    assert call.out == ""
    assert read_zkey(zkey).insecure
    assert read_zkey(zkey).alpha_g1 != read_zkey(circuit.zkey).alpha_g1


def test_a_file_that_is_no_constraint_system(circuit: Circuit, tmp_path: Path, call: Call) -> None:
    zkey = tmp_path / "key.zkey"
    call.assert_refused("setup", "--r1cs", circuit.wtns, "--zkey", zkey, because=str(circuit.wtns))
    assert not zkey.exists()
