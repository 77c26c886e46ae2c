"""What operators do to a running service: take circuits out of use, let workers run empty."""

from __future__ import annotations

from redis.exceptions import RedisError

from proving.choices import CircuitState
from proving.models import Circuit, WebhookDelivery
from proving.services import live
from proving.services.errors import Refusal, ServiceError, conflict, not_found
from proving.tracker.outcomes import Refused


def quarantine_circuit(circuit: Circuit) -> None:
    """Take no more jobs for a circuit; those that it has go on. ServiceError where that was so already."""
    _change_state(circuit, CircuitState.ACTIVE, CircuitState.QUARANTINED)


def restore_circuit(circuit: Circuit) -> None:
    """Take jobs for a quarantined circuit again. ServiceError where it was not quarantined."""
    _change_state(circuit, CircuitState.QUARANTINED, CircuitState.ACTIVE)


def drain_worker(name: str) -> None:
    """Let a worker finish what it has and claim no more. ServiceError where there is no such worker."""
    try:
        answer = live.store().drain_worker(name)
    except RedisError as error:
        detail = "the server that holds the live state does not answer"
        raise ServiceError(Refusal.UNAVAILABLE, "live_state_unavailable", detail) from error
    if isinstance(answer, Refused):
        raise not_found("worker")


def send_again(delivery: WebhookDelivery) -> None:
    """Send what a message said once more, as a message of its own."""
    WebhookDelivery.objects.create(
        webhook=delivery.webhook, job=delivery.job, event=delivery.event, payload=delivery.payload
    )


def _change_state(circuit: Circuit, before: CircuitState, after: CircuitState) -> None:
    if not Circuit.objects.filter(pk=circuit.pk, state=before).update(state=after):
        raise conflict("state", f"the circuit is {circuit.state} already")
