"""The judge of the storms sees what is wrong, and forgives what was thrown away."""

from typing import Any

from tests.support.chaos.judge import Judge


def reading(rev: int, state: str = "done", attempt: int = 1) -> dict[str, Any]:
    partition = {"index": 0, "state": state, "attempt": attempt, "worker": None}
    pipeline = {
        "job_id": "job",
        "partitions": [partition],
        "counts": {state: 1},
        "total_partitions": 1,
        "partitions_done": int(state == "done"),
    }
    return {"rev": rev, "consistent": True, "gpu_workers": [], "pipelines": [pipeline]}


def test_what_takes_back_an_earlier_reading_is_wrong() -> None:
    judge = Judge()
    for one in (reading(5), reading(4, "pending", 2), reading(6, "pending", 1)):
        judge.read(lambda one=one: one)

    assert len(judge.wrong) == 3, judge.wrong


def test_what_was_thrown_away_may_tell_less_even_if_nobody_looked_meanwhile() -> None:
    judge = Judge()
    judge.read(lambda: reading(5))
    with judge.losing():
        pass
    judge.read(lambda: reading(0, "pending"))

    assert judge.wrong == []


def test_a_reading_from_before_a_loss_is_held_against_nothing() -> None:
    judge = Judge()

    def late() -> dict[str, Any]:
        with judge.losing():
            return reading(5)

    judge.read(late)
    judge.read(lambda: reading(0, "pending"))

    assert judge.wrong == []
