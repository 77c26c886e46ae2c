"""Jobs through the REST API, proved by real workers and checked with this repository's own verifier."""

import json
from pathlib import Path

import httpx
import pytest

from cuzkweb.client import ApiError, Job, ProvedPartition, State
from tests.support.merkle import NAME, assert_verified, leaves, with_broken_assertion
from tests.support.processes import wait_for
from tests.support.stack import Stack

pytestmark = [pytest.mark.acceptance, pytest.mark.shared]

TIMEOUT = 120.0


def states(job: Job) -> list[State]:
    return [partition.state for partition in job.partitions]


def test_four_partitions_end_to_end(stack: Stack, circuit: str, merkle: Path) -> None:
    job = stack.client.submit(circuit, leaves(merkle, 4), request_id="four", label="first light")

    ended = stack.client.wait(job.id, timeout=TIMEOUT)

    assert (ended.state, ended.error) == (State.DONE, None)
    proofs = stack.client.proofs(job.id)
    assert_verified(merkle, proofs, 4)
    assert proofs[0].public == json.loads((merkle / "public.json").read_text())
    assert not (stack.home / "spool" / "four").exists(), "inputs and witnesses go when the job ends"


def test_sixteen_partitions_end_in_index_order(stack: Stack, circuit: str, merkle: Path) -> None:
    job = stack.client.submit(circuit, leaves(merkle, 16))

    ended = stack.client.wait(job.id, timeout=TIMEOUT)

    assert states(ended) == [State.DONE] * 16
    assert_verified(merkle, stack.client.proofs(job.id), 16)


def test_a_broken_assertion_fails_the_job_and_cancels_the_rest(
    stack: Stack, circuit: str, merkle: Path
) -> None:
    inputs = leaves(merkle, 16)
    inputs[4] = with_broken_assertion(inputs[4])
    job = stack.client.submit(circuit, inputs)

    ended = stack.client.wait(job.id, timeout=TIMEOUT)

    assert (ended.state, ended.error_partition) == (State.FAILED, 4)
    assert ended.error is not None
    assert "partition 4" in ended.error
    assert "Merkle" in ended.error
    assert ended.partitions[4].state == State.FAILED
    assert set(states(ended)) <= {State.FAILED, State.CANCELLED, State.DONE}
    assert states(ended).count(State.FAILED) == 1
    assert State.CANCELLED in states(ended)
    with pytest.raises(ApiError) as refusal:
        stack.client.proofs(job.id)
    assert refusal.value.status == 409
    assert not (stack.home / "spool" / job.id).exists()


def test_witness_files_are_proved_too(stack: Stack, circuit: str, merkle: Path) -> None:
    job = stack.client.submit_witnesses(circuit, [merkle / "merkle20.wtns"])

    ended = stack.client.wait(job.id, timeout=TIMEOUT)

    assert (ended.state, ended.error) == (State.DONE, None)
    assert_verified(merkle, stack.client.proofs(job.id), 1)


def test_the_command_line_submits_waits_and_writes_the_proofs(
    stack: Stack, circuit: str, merkle: Path, tmp_path: Path
) -> None:
    (tmp_path / "inputs.json").write_text(json.dumps(leaves(merkle, 2)))
    options = ["--input", str(tmp_path / "inputs.json"), "--request-id", "by-hand", "--wait"]

    ran = stack.command("submit", NAME, *options, "--proofs", str(tmp_path / "proofs.json"))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "by-hand: done, 2 proofs verified" in ran.stdout
    rows = json.loads((tmp_path / "proofs.json").read_text())
    assert_verified(merkle, [ProvedPartition(**row) for row in rows], 2)
    assert stack.command("watch", "by-hand").returncode == 0
    late = stack.command("cancel", "by-hand")
    assert (late.returncode, late.stderr.count("\n")) == (1, 1)
    assert "already ended" in late.stderr


def test_flower_shows_the_tasks_with_their_ids_to_who_may_see_them(
    stack: Stack, circuit: str, merkle: Path
) -> None:
    job = stack.client.submit(circuit, leaves(merkle, 1))
    assert stack.client.wait(job.id, timeout=TIMEOUT).state == State.DONE
    address, login = stack.state()["flower"], tuple(stack.state()["flower_login"].split(":"))

    def shown() -> set[tuple[str, str, str]]:
        tasks = httpx.get(f"{address}api/tasks", auth=login, timeout=10).json().values()
        found = {
            (task["name"], task["args"], task["state"]) for task in tasks if job.id in (task["args"] or "")
        }
        return found if len(found) == 4 and {row[2] for row in found} == {"SUCCESS"} else set()

    rows = wait_for(shown, "Flower has heard of all four tasks", 15)
    assert {row[0] for row in rows} == {"synthesize", "prove", "finalize", "assemble"}
    assert all(args.startswith(f"('{job.id}',") for _, args, _ in rows)
    for path in ("", "workers", "tasks", "api/tasks"):
        assert httpx.get(f"{address}{path}", timeout=10).status_code == 401, path
    stranger = httpx.get(f"{stack.state()['web']}/flower/", timeout=10)
    assert (stranger.status_code, stranger.headers["location"]) == (302, "/admin/login/?next=/flower/")
    stopping = httpx.post(f"{address}api/worker/shutdown/gpu0", auth=login, timeout=10)
    assert stopping.status_code == 403


def test_nothing_of_it_troubled_the_periodic_process(stack: Stack) -> None:
    assert "Traceback" not in stack.log("periodic")
