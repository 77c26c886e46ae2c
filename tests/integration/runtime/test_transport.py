"""Messages on the real server: order by priority, nothing lost with a dead consumer, no mixing."""

from collections.abc import Iterator
from typing import Any

import pytest
from celery import Celery
from kombu import pools

from cuzkweb import celery
from cuzkweb.celery import configuration
from proving.services import dispatch, upkeep


def app_of(redis_url: str, deployment: str) -> Celery:
    """An app as `cuzkweb.celery` makes it, whose unacknowledged messages come back at once."""
    app = Celery(f"test {deployment}", set_as_current=False)
    app.conf.update(configuration(redis_url, deployment))
    app.conf.broker_transport_options = {**app.conf.broker_transport_options, "visibility_timeout": 0}
    return app


@pytest.fixture
def app(live_state: None, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Celery]:
    made = app_of(redis_url, "main")
    for user in (dispatch, upkeep):
        monkeypatch.setattr(user, "current_app", made)
    yield made
    pools.reset()


def take(channel: Any) -> tuple[Any, ...] | None:
    """The arguments of the next message, which stays unacknowledged."""
    message = channel.basic_get("gpu")
    return None if message is None else tuple(message.decode()[0])


def open_channel(app: Celery) -> Any:
    """A consumer's channel. Giving it up without a word is what a killed process does."""
    channel = app.connection_for_read().default_channel
    channel.qos.restore_at_shutdown = False
    celery.queue("gpu")(channel).declare()
    return channel


def test_the_critical_is_taken_first_and_equals_in_order(app: Celery) -> None:
    for name, priority in (("low", 1), ("normal 1", 2), ("normal 2", 2), ("critical", 4), ("high", 3)):
        dispatch.send_all("prove", [(name, 0, 1)], priority)

    channel = open_channel(app)

    assert upkeep.queue_length("gpu") == 5
    taken = [take(channel) for _ in range(5)]
    assert [place[0] for place in taken if place] == ["critical", "high", "normal 1", "normal 2", "low"]
    assert take(channel) is None


def test_what_a_dead_consumer_had_comes_back_at_the_head(app: Celery) -> None:
    dispatch.send_all("prove", [("first", 0, 1), ("second", 0, 1)], 2)
    assert take(open_channel(app)) == ("first", 0, 1)

    survivor = open_channel(app)
    survivor.qos.restore_visible(interval=1)

    assert take(survivor) == ("first", 0, 1)
    assert take(survivor) == ("second", 0, 1)


def test_two_deployments_on_one_server_do_not_mix(app: Celery, redis_url: str) -> None:
    dispatch.send_all("prove", [("ours", 0, 1)], 2)
    other = app_of(redis_url, "other")

    assert take(open_channel(other)) is None
    assert take(open_channel(app)) == ("ours", 0, 1)


def test_an_undeclared_queue_is_refused(app: Celery) -> None:
    with pytest.raises(KeyError):
        app.send_task("prove", args=("job", 0, 1), queue="gpux")
