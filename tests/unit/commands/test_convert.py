"""cuzkweb convert: there and back again in every form, and what a form cannot hold."""

import json
from pathlib import Path

import pytest

from kernels.curves import BLS12_381, BN254
from tests.unit.commands.conftest import Call, Circuit

ANY_CURVE = ["arkworks", "arkworks-uncompressed", "gnark", "gnark-raw"]
BLS_ONLY = ["bellman", "waves"]


def forms(circuit: Circuit) -> list[str]:
    return ANY_CURVE + (BLS_ONLY if circuit.curve is BLS12_381 else ["calldata"])


@pytest.fixture
def proved(circuit: Circuit, tmp_path: Path, call: Call) -> Path:
    files = ["--zkey", circuit.zkey, "--wtns", circuit.wtns]
    assert (
        call("prove", *files, "--proof", tmp_path / "proof.json", "--public", tmp_path / "public.json") == 0
    )
    return tmp_path


def test_proofs_there_and_back(circuit: Circuit, proved: Path, call: Call) -> None:
    original, public = proved / "proof.json", proved / "public.json"
    for form in forms(circuit):
        there, back = proved / form, proved / f"{form}.json"
        assert call("convert", "--proof", original, "--to", form, "--out", there, "--public", public) == 0
        signals = [] if form == "calldata" else ["--public", public]
        assert call("verify", "--vkey", circuit.vkey, "--proof", there, *signals) == 0, form
        assert call("check", there) == 0, call.err
        curve = ["--curve", circuit.curve.name]
        assert call("convert", "--proof", there, "--to", "snarkjs", "--out", back, *curve) == 0
        assert json.loads(back.read_text()) == json.loads(original.read_text())


def test_the_words_of_a_call_there_and_back(circuit: Circuit, proved: Path, call: Call) -> None:
    if circuit.curve is not BN254:
        return  # calldata is on BN254
    original, words, back = proved / "proof.json", proved / "words", proved / "back.json"
    files = ["--proof", original, "--public", proved / "public.json"]
    assert call("convert", *files, "--to", "calldata-abi", "--out", words) == 0
    for selector in (b"", b"\x01\x02\x03\x04"):
        words.write_bytes(selector + words.read_bytes()[-9 * 32 :])
        assert call("verify", "--vkey", circuit.vkey, "--proof", words, "--form", "calldata") == 0, call.err
        assert call("convert", "--proof", words, "--from", "calldata", "--to", "snarkjs", "--out", back) == 0
        assert json.loads(back.read_text()) == json.loads(original.read_text())
    words.write_bytes(words.read_bytes()[:-1])
    call.assert_refused(
        "verify",
        "--vkey",
        circuit.vkey,
        "--proof",
        words,
        "--form",
        "calldata",
        because="no call of a verifier",
    )


def test_keys_there_and_back(circuit: Circuit, proved: Path, call: Call) -> None:
    original = json.loads(circuit.vkey.read_text())
    for form in forms(circuit):
        if form == "calldata":
            continue
        there, back = proved / form, proved / f"{form}.json"
        assert call("convert", "--vkey", circuit.zkey, "--to", form, "--out", there) == 0
        assert call("check", there) == 0, call.err
        assert circuit.curve.name in call.out
        assert call("convert", "--vkey", there, "--to", "snarkjs", "--out", back) == 0
        assert json.loads(back.read_text()) == original
        outcome = ["--proof", proved / "proof.json", "--public", proved / "public.json"]
        assert call("verify", "--vkey", there, *outcome) == 0


def test_partitions_one_after_the_other(circuit: Circuit, proved: Path, call: Call) -> None:
    if circuit.curve is not BLS12_381:
        return  # bellman's bytes are on BLS12-381
    one, three, public = proved / "one", proved / "three", proved / "publics.json"
    assert call("convert", "--proof", proved / "proof.json", "--to", "bellman", "--out", one) == 0
    three.write_bytes(3 * one.read_bytes())
    signals = json.loads((proved / "public.json").read_text())
    public.write_text(json.dumps([signals] * 3))
    assert call("verify", "--vkey", circuit.vkey, "--proof", three, "--public", public) == 0
    public.write_text(json.dumps([signals, [str(int(signals[0]) ^ 1)], signals]))
    assert call("verify", "--vkey", circuit.vkey, "--proof", three, "--public", public) == 1
    assert "proof 1: the pairing check fails" in call.err
    assert "proof 0" not in call.err
    assert call("convert", "--proof", three, "--to", "snarkjs", "--out", proved / "list.json") == 0
    assert len(json.loads((proved / "list.json").read_text())) == 3
    call.assert_refused(
        "convert", "--proof", three, "--to", "gnark", "--out", proved / "x", because="holds one proof"
    )


def test_a_snarkjs_key_has_not_what_bellman_keeps(circuit: Circuit, tmp_path: Path, call: Call) -> None:
    for form in ["gnark", *(["bellman"] if circuit.curve is BLS12_381 else [])]:
        arguments = ["--vkey", circuit.vkey, "--to", form, "--out", tmp_path / "key"]
        call.assert_refused("convert", *arguments, because="convert from a proving key")
    assert not (tmp_path / "key").exists()


def test_what_a_form_cannot_hold(circuit: Circuit, proved: Path, call: Call) -> None:
    other = "bellman" if circuit.curve is BN254 else "calldata"
    files = ["--proof", proved / "proof.json", "--public", proved / "public.json", "--out", proved / "x"]
    call.assert_refused("convert", *files, "--to", other, because=circuit.curve.name)
    call.assert_refused("convert", *files, "--to", "solidity", because="made of a verifying key")
    key = ["--vkey", circuit.vkey, "--out", proved / "x"]
    call.assert_refused("convert", *key, "--to", "calldata", because="holds a proof")
    if circuit.curve is BLS12_381:
        call.assert_refused("convert", *key, "--to", "solidity", because="precompiles are for bn254")
    assert not (proved / "x").exists()


def test_an_alias_of_a_signal_gets_into_no_calldata(circuit: Circuit, proved: Path, call: Call) -> None:
    if circuit.curve is not BN254:
        return  # calldata is on BN254
    (proved / "public.json").write_text(json.dumps([str(circuit.witness[1] + circuit.curve.r)]))
    files = ["--proof", proved / "proof.json", "--public", proved / "public.json", "--out", proved / "x"]
    call.assert_refused("convert", *files, "--to", "calldata", because="not below the field's modulus")


@pytest.mark.parametrize("content", [b"", b"\0", b"{}", b"[1]", bytes(128), b"\xff" * 192, b'["0x1"],2'])
def test_what_is_no_proof_or_key(tmp_path: Path, call: Call, content: bytes) -> None:
    path = tmp_path / "strange"
    path.write_bytes(content)
    for what in ("--proof", "--vkey"):
        call.assert_refused(
            "convert", what, path, "--to", "gnark", "--out", tmp_path / "x", because="strange"
        )


class TestDigests:
    """cuzkweb check --digests."""

    @pytest.fixture
    def listed(self, tmp_path: Path) -> Path:
        """A list that knows public.json by all its digests."""
        import hashlib

        content = b'["33"]'
        (tmp_path / "public.json").write_bytes(content)
        entry = {
            "cid": "Qm",
            "digest": hashlib.blake2b(content).hexdigest()[:32],
            "sha256": hashlib.sha256(content).hexdigest(),
            "blake2b": hashlib.blake2b(content).hexdigest(),
        }
        path = tmp_path / "list.json"
        path.write_text(json.dumps({"public.json": entry, "short": {"digest": "00"}, "none": {}}))
        return path

    def test_the_right_file(self, tmp_path: Path, listed: Path, call: Call) -> None:
        assert call("check", tmp_path / "public.json", "--digests", listed) == 0
        assert "sha256" in call.out

    def test_another_file_under_the_name(self, tmp_path: Path, listed: Path, call: Call) -> None:
        (tmp_path / "public.json").write_bytes(b'["34"]')
        assert call("check", tmp_path / "public.json", "--digests", listed) == 1
        assert "digest begins with" in call.err

    @pytest.mark.parametrize(
        ("name", "reason"), [("unknown", "is not in the list"), ("short", "16 bytes"), ("none", "has no")]
    )
    def test_a_list_that_does_not_help(
        self, tmp_path: Path, listed: Path, call: Call, name: str, reason: str
    ) -> None:
        assert call("check", tmp_path / "public.json", "--digests", listed, "--as", name) == 1
        assert reason in call.err

    @pytest.mark.shared
    def test_the_parameters_of_zcash(self, shared_fixtures: Path, tmp_path: Path, call: Call) -> None:
        """The SHA-256 digest that the Zcash project publishes for sapling-output.params."""
        sha256 = "2f0ebbcbb9bb0bcffe95a397e7eba89c29eb4dde6191c339db88570e3f3fb0e4"
        (tmp_path / "list.json").write_text(json.dumps({"sapling-output.params": {"sha256": sha256}}))
        path = shared_fixtures / "zcash-sapling" / "sapling-output.params"
        assert call("check", path, "--digests", tmp_path / "list.json") == 0
        assert "l 7821, a 6298, b_g1 4850" in call.out
        vkey = tmp_path / "vkey.json"
        assert call("convert", "--vkey", path, "--to", "snarkjs", "--out", vkey) == 0
        shipped = json.loads((path.parent / "output.verification_key.json").read_text())
        made = json.loads(vkey.read_text())
        assert {name: made[name] for name in shipped if name in made} == {
            name: shipped[name] for name in shipped if name in made
        }
