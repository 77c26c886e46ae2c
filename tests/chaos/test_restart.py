"""The whole service dies at once, and comes back."""

from pathlib import Path

import pytest

from cuzkweb.client import State
from tests.support.merkle import NAME, assert_verified, leaves
from tests.support.processes import processes_of, wait_for
from tests.support.stack import running_stack
from tests.support.watcher import proving_now

pytestmark = [pytest.mark.chaos, pytest.mark.acceptance, pytest.mark.shared]


def test_a_killed_supervisor_leaves_no_process_and_loses_no_job(
    tmp_path: Path, shared_fixtures: Path
) -> None:
    home = tmp_path / ("deep" * 30)  # too deep for a socket: it lies elsewhere
    merkle = shared_fixtures / NAME
    with running_stack(home, "--no-flower", CUZKWEB_ENGINE="portable") as doomed:
        job = doomed.client.submit(doomed.register(merkle, NAME), leaves(merkle, 6))
        wait_for(lambda: proving_now(doomed.client.status(), job.id) is not None, "it proves", 60)
        assert len(processes_of(home)) > 5

        doomed.process.kill()

        wait_for(lambda: not processes_of(home), "every process has gone after the supervisor", 15)

    with running_stack(home, "--no-flower") as second:
        ended = second.client.wait(job.id, timeout=120)

        assert (ended.state, ended.error) == (State.DONE, None)
        assert_verified(merkle, second.client.proofs(job.id), 6)
        assert max(partition.attempt for partition in ended.partitions) <= 2
