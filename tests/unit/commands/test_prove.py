"""cuzkweb prove and verify: only what verified is written, and everything else is one clear line."""

import json
from pathlib import Path

import pytest

from proving.formats.wtns import Witness, write_witness
from tests.unit.commands.conftest import Call, Circuit
from tests.unit.groth16.reference import words


def prove(call: Call, circuit: Circuit, folder: Path, *more: object, wtns: Path | None = None) -> int:
    return call("prove", *files(circuit, folder, wtns), *more)


def files(circuit: Circuit, folder: Path, wtns: Path | None = None) -> list[object]:
    inputs = ["--zkey", circuit.zkey, "--wtns", wtns or circuit.wtns]
    return [*inputs, "--proof", folder / "proof.json", "--public", folder / "public.json"]


def verify(call: Call, circuit: Circuit, folder: Path) -> int:
    files = ["--vkey", circuit.vkey, "--proof", folder / "proof.json", "--public", folder / "public.json"]
    return call("verify", *files)


def changed_witness(circuit: Circuit, folder: Path, wire: int) -> Path:
    values = list(circuit.witness)
    values[wire] = (values[wire] + 1) % circuit.curve.r
    path = folder / "changed.wtns"
    write_witness(path, Witness(circuit.curve, words(values)))
    return path


def test_a_proof_is_written_and_verifies(circuit: Circuit, tmp_path: Path, call: Call) -> None:
    assert prove(call, circuit, tmp_path) == 0
    assert (call.out, call.err) == ("", "")
    assert json.loads((tmp_path / "public.json").read_text()) == [str(circuit.witness[1])]
    proof = json.loads((tmp_path / "proof.json").read_text())
    assert set(proof) == {"pi_a", "pi_b", "pi_c", "protocol", "curve"}
    assert verify(call, circuit, tmp_path) == 0
    assert call.out == "valid\n"


def test_the_verdict_is_told_to_programs(circuit: Circuit, tmp_path: Path, call: Call) -> None:
    assert call("prove", *files(circuit, tmp_path)) == 0
    told = ["--vkey", circuit.vkey, "--proof", tmp_path / "proof.json", "--public"]
    assert call("verify", *told, tmp_path / "public.json", "--json") == 0
    assert json.loads(call.out) == {"valid": True, "reason": "", "bad": []}
    other = tmp_path / "other.json"
    public = json.loads((tmp_path / "public.json").read_text())
    other.write_text(json.dumps([str((int(public[0]) + 1) % circuit.curve.r), *public[1:]]))
    assert call("verify", *told, other, "--json") == 1
    verdict = json.loads(call.out)
    assert (verdict["valid"], verdict["bad"][0]["index"]) == (False, 0)
    assert verdict["reason"] in call.err


@pytest.mark.node
def test_snarkjs_accepts_the_files(circuit: Circuit, tmp_path: Path, call: Call, snarkjs) -> None:
    assert prove(call, circuit, tmp_path) == 0
    documents = [
        json.loads(path.read_text())
        for path in (circuit.vkey, tmp_path / "public.json", tmp_path / "proof.json")
    ]
    assert snarkjs.verify(*documents)


@pytest.mark.parametrize("wire", [1, 2, 5])
def test_an_unsatisfied_witness_writes_nothing(
    circuit: Circuit, tmp_path: Path, call: Call, wire: int
) -> None:
    wtns = changed_witness(circuit, tmp_path, wire)
    call.assert_refused(
        "prove", *files(circuit, tmp_path, wtns), because="witness does not satisfy the circuit"
    )
    assert not (tmp_path / "proof.json").exists()
    assert not (tmp_path / "public.json").exists()


def test_a_key_with_a_broken_point_is_blamed_instead_of_the_witness(
    circuit: Circuit, tmp_path: Path, call: Call
) -> None:
    from proving.formats.zkey import read_zkey

    body = bytearray(circuit.zkey.read_bytes())
    place = bytes(body).index(read_zkey(circuit.zkey).points.h[3].tobytes())
    body[place] ^= 1
    broken = tmp_path / "broken.zkey"
    broken.write_bytes(body)
    arguments = ["--zkey", broken, *files(circuit, tmp_path)[2:]]
    call.assert_refused("prove", *arguments, because="point 3")
    assert "H points" in call.err
    assert not (tmp_path / "proof.json").exists()


def test_existing_results_survive_a_refusal(circuit: Circuit, tmp_path: Path, call: Call) -> None:
    for name in ("proof.json", "public.json"):
        (tmp_path / name).write_text("precious")
    assert prove(call, circuit, tmp_path, wtns=changed_witness(circuit, tmp_path, 2)) == 1
    assert (tmp_path / "proof.json").read_text() == "precious"
    assert (tmp_path / "public.json").read_text() == "precious"


def test_nothing_else_is_left_beside_the_results(circuit: Circuit, tmp_path: Path, call: Call) -> None:
    assert prove(call, circuit, tmp_path) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["proof.json", "public.json"]


def test_a_witness_of_another_circuit_is_refused(circuit: Circuit, tmp_path: Path, call: Call) -> None:
    path = tmp_path / "short.wtns"
    write_witness(path, Witness(circuit.curve, words([1, 2, 3])))
    call.assert_refused("prove", *files(circuit, tmp_path, path), because="3 values")


def test_files_that_are_not_there_or_not_what_they_should_be(
    circuit: Circuit, tmp_path: Path, call: Call
) -> None:
    missing = tmp_path / "missing.wtns"
    call.assert_refused(
        "prove", *files(circuit, tmp_path, missing), because=f"{missing}: No such file or directory"
    )
    call.assert_refused("prove", *files(circuit, tmp_path, circuit.r1cs), because=str(circuit.r1cs))
    call.assert_refused("prove", *files(circuit, tmp_path, tmp_path), because="Is a directory")
    call.assert_refused(
        "prove", "--zkey", circuit.wtns, *files(circuit, tmp_path)[2:], because=str(circuit.wtns)
    )


def test_results_that_cannot_be_written_are_one_line(circuit: Circuit, tmp_path: Path, call: Call) -> None:
    nowhere = tmp_path / "no" / "folder"
    call.assert_refused("prove", *files(circuit, nowhere), because="No such file or directory")


def test_a_device_that_is_not_here(circuit: Circuit, tmp_path: Path, call: Call) -> None:
    arguments = [*files(circuit, tmp_path), "--device", "cuda:0"]
    call.assert_refused("prove", *arguments, because="no NVIDIA GPU is visible")


@pytest.mark.parametrize("source", [["--wasm", "g"], ["--wtns", "w", "--input", "i"], []])
def test_a_witness_comes_one_way(circuit: Circuit, tmp_path: Path, call: Call, source: list[str]) -> None:
    results = ["--proof", tmp_path / "p", "--public", tmp_path / "q"]
    with pytest.raises(SystemExit) as left:
        call("prove", "--zkey", circuit.zkey, *source, *results)
    assert left.value.code == 2


def test_times_are_told_on_standard_error(circuit: Circuit, tmp_path: Path, call: Call) -> None:
    assert prove(call, circuit, tmp_path, "--json", "--threads", 1) == 0
    report = json.loads(call.err)
    stages = {"import", "key", "witness", "evaluate", "quotient", "h", "a", "b1", "b2", "c"}
    assert stages | {"assemble", "verify", "write"} <= report["stages"].keys()
    assert report["total"] >= sum(report["stages"].values()) * 0.99
    assert call.out == ""
    assert prove(call, circuit, tmp_path, "-v") == 0
    assert "quotient" in call.err


class TestVerify:
    """cuzkweb verify."""

    @pytest.fixture
    def proved(self, circuit: Circuit, tmp_path: Path, call: Call) -> Path:
        assert prove(call, circuit, tmp_path) == 0
        return tmp_path

    def refuse(self, call: Call, circuit: Circuit, folder: Path, because: str) -> None:
        assert verify(call, circuit, folder) == 1
        assert because in call.err
        assert call.out == ""
        assert call.err.count("\n") == 1

    def test_another_statement(self, circuit: Circuit, proved: Path, call: Call) -> None:
        (proved / "public.json").write_text('["3"]')
        self.refuse(call, circuit, proved, "invalid: the pairing check fails")

    def test_an_alias_of_the_statement(self, circuit: Circuit, proved: Path, call: Call) -> None:
        (proved / "public.json").write_text(json.dumps([str(circuit.witness[1] + circuit.curve.r)]))
        self.refuse(call, circuit, proved, "public input 0 is not below the field's modulus")

    def test_too_many_signals(self, circuit: Circuit, proved: Path, call: Call) -> None:
        (proved / "public.json").write_text('["3", "4"]')
        self.refuse(call, circuit, proved, "2 public inputs, key wants 1")

    def test_a_point_off_the_curve(self, circuit: Circuit, proved: Path, call: Call) -> None:
        proof = json.loads((proved / "proof.json").read_text())
        proof["pi_a"][0] = "1"
        (proved / "proof.json").write_text(json.dumps(proof))
        self.refuse(call, circuit, proved, "A is not on the curve")

    @pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"pi_a": 1}', "\x00", '"text"'])
    def test_a_file_that_is_no_proof(self, circuit: Circuit, proved: Path, call: Call, text: str) -> None:
        (proved / "proof.json").write_text(text)
        self.refuse(call, circuit, proved, "proof.json")

    def test_files_in_each_others_places(self, circuit: Circuit, proved: Path, call: Call) -> None:
        proof, public = proved / "proof.json", proved / "public.json"
        call.assert_refused(
            "verify", "--vkey", proof, "--proof", proof, "--public", public, because="proof.json"
        )
        call.assert_refused(
            "verify", "--vkey", circuit.vkey, "--proof", public, "--public", public, because="public.json"
        )
        call.assert_refused(
            "verify", "--vkey", circuit.wtns, "--proof", proof, "--public", public, because="witness.wtns"
        )

    def test_a_proving_key_verifies_with_the_key_that_it_holds(
        self, circuit: Circuit, proved: Path, call: Call
    ) -> None:
        outcome = ["--proof", proved / "proof.json", "--public", proved / "public.json"]
        assert call("verify", "--vkey", circuit.zkey, *outcome) == 0
