"""cuzkweb bench: real measurements of small things, and clear words on what is absent."""

import json
import os
import sys
from pathlib import Path

import pytest

from cuzkweb.commands import bench
from cuzkweb.commands.peers import Measure, Prover, ProverFailedError, Task, find_peers, measure
from tests.unit.commands.conftest import Call


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUZKWEB_SHARED", raising=False)


SIZE = ("--size", 7)
DENSE = "dense-2^7"


def no_peers(_given: object = None) -> tuple[list[Prover], list[str]]:
    return [], ["snarkjs: not here"]


def test_a_report_as_json_without_peers_or_fixtures(
    monkeypatch: pytest.MonkeyPatch, call: Call, tmp_path: Path
) -> None:
    monkeypatch.setattr(bench, "find_peers", no_peers)
    assert (
        call("bench", "--runs", 2, *SIZE, "--circuit", "merkle20", "--plot", tmp_path / "t.svg", "--json")
        == 0
    )
    report = json.loads(call.out)
    (row,) = report["circuits"]
    assert row["circuit"] == DENSE
    (own,) = row["provers"]
    assert own["prover"] == "cuzkweb"
    assert own["ratio"] == 1.0
    assert own["wall_seconds"] > 0
    assert own["peak_bytes"] > 1 << 20
    assert "polyline" in (tmp_path / "t.svg").read_text()
    assert {"start", "key", "quotient", "c+h", "a+b", "assemble", "verify"} <= set(row["stages"])
    assert report["machine"]["threads"] == len(os.sched_getaffinity(0))
    for absent in ("snarkjs: not here", "merkle20"):
        assert f"skipped {absent}" in call.err


@pytest.mark.node
def test_a_table_beside_snarkjs(call: Call, snarkjs) -> None:
    assert call("bench", "--runs", 1, *SIZE) == 0
    lines = call.out.splitlines()
    assert any(line.split()[:2] == [DENSE, "snarkjs"] for line in lines)
    assert any(line.startswith("stages, ms") for line in lines)


def test_nothing_to_measure(call: Call) -> None:
    assert call("bench", "--circuit", "merkle20", "--fixtures", "/nonexistent") == 1
    assert "no circuit to measure" in call.err


def test_a_peer_whose_proof_is_wrong_is_not_timed(monkeypatch: pytest.MonkeyPatch, call: Call) -> None:
    script = (
        "import shutil, sys; zkey, wtns, proof, public = sys.argv[1:]\n"
        "open(public, 'w').write('[\"1\"]')"  # our proof still lies in place of the peer's
    )
    liar = Prover(
        "liar",
        lambda task: [
            sys.executable,
            "-c",
            script,
            *map(str, (task.zkey, task.wtns, task.proof, task.public)),
        ],
    )
    monkeypatch.setattr(bench, "find_peers", lambda _given: ([liar], []))
    assert call("bench", "--runs", 1, *SIZE) == 1
    assert f"liar on {DENSE}: its proof does not verify" in call.err


def test_a_peer_that_fails_is_named(tmp_path: Path) -> None:
    task = Task(*(tmp_path / name for name in "zwpq"))
    failing = Prover("x", lambda task: [sys.executable, "-c", "import sys; sys.exit('out of luck')"])
    with pytest.raises(ProverFailedError, match="out of luck"):
        measure(failing, task)


def test_a_measure_is_of_the_whole_process(tmp_path: Path) -> None:
    task = Task(*(tmp_path / name for name in "zwpq"))
    program = "import sys, time; time.sleep(0.05); sum(range(3000000)); print('done', file=sys.stderr)"
    found = measure(Prover("x", lambda task: [sys.executable, "-c", program]), task)
    assert found.wall >= 0.05
    assert 0 < found.cpu < found.wall + 1
    assert found.stderr == "done\n"


def test_peers_that_are_absent_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    found, absent = find_peers()
    assert found == []
    assert [line.split(":")[0] for line in absent] == ["snarkjs", "rapidsnark", "groth16py"]


def test_ratios_are_medians_of_pairs() -> None:
    own = [Measure(wall, wall, "") for wall in (1.0, 2.0, 4.0)]
    theirs = [Measure(wall, wall, "") for wall in (3.0, 4.0, 4.0)]
    assert bench.summarise("peer", own, theirs).ratio == 2.0
    assert bench.summarise("peer", own, theirs).wall_seconds == 4.0


def test_a_library_is_timed_from_inside(monkeypatch: pytest.MonkeyPatch, call: Call, tmp_path: Path) -> None:
    monkeypatch.setattr(bench, "find_peers", no_peers)
    program = tmp_path / "gnark"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nassert sys.argv[1:] == ['bls12-381', 'prove', '7', '1']\n"
        'print(\'{"what": "prove", "wall": 8.0, "cpu": 16.0}\')\n'
    )
    program.chmod(0o755)
    assert (
        call("bench", "--runs", 1, *SIZE, "--curve", "bls12-381", "--peer", f"gnark={program}", "--json") == 0
    )
    (row,) = json.loads(call.out)["circuits"]
    own, library = row["provers"]
    assert row["circuit"] == "bls12-381-dense-2^7"
    assert (library["prover"], library["whole_process"], library["wall_seconds"]) == ("gnark", False, 8.0)
    assert library["ratio"] == pytest.approx(8.0 / own["wall_seconds"])


@pytest.mark.parametrize("text", ["gnark", "gnark=", "other=/bin/true"])
def test_a_peer_has_a_known_name_and_a_path(call: Call, text: str) -> None:
    with pytest.raises(SystemExit) as left:
        call("bench", "--peer", text)
    assert left.value.code == 2
