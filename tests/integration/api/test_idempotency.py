"""Idempotency-Key: one act for each key, the same answer for each repetition."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from proving.models import Circuit, IdempotentRequest, Job
from proving.services import idempotency
from tests.integration.conftest import Caller, CircuitFolder, Dispatched

pytestmark = pytest.mark.django_db

JOBS = "/api/v1/jobs"
KEY = {"idempotency-key": "a-key"}


def body(circuit: Circuit, factor: int = 2) -> dict[str, Any]:
    return {"circuit": circuit.pk, "inputs": [{"a": 1, "b": factor}]}


def submit(caller: Caller, document: Any, headers: dict[str, str] = KEY) -> Any:
    return caller.post(JOBS, document, headers=headers)


def test_the_same_request_makes_one_job_and_gets_one_answer(
    caller: Caller, circuit: Circuit, dispatched: Dispatched
) -> None:
    first, second = submit(caller, body(circuit)), submit(caller, body(circuit))
    assert (first.status_code, second.status_code) == (202, 202)
    assert second.json() == first.json()
    assert second["Location"] == first["Location"]
    assert (first.get("Idempotency-Replayed"), second["Idempotency-Replayed"]) == (None, "true")
    assert Job.objects.count() == len(dispatched.enqueued) == 1


def test_the_order_of_names_in_a_body_makes_no_difference(
    caller: Caller, circuit: Circuit, dispatched: Dispatched
) -> None:
    submit(caller, body(circuit))
    turned = dict(reversed(body(circuit).items()))
    assert submit(caller, turned)["Idempotency-Replayed"] == "true"


def test_another_body_is_refused(caller: Caller, circuit: Circuit, dispatched: Dispatched) -> None:
    submit(caller, body(circuit))
    answer = submit(caller, body(circuit, 3))
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert Job.objects.count() == 1


def test_while_the_first_is_at_work_the_second_is_told_to_wait(
    caller: Caller, circuit: Circuit, dispatched: Dispatched
) -> None:
    submit(caller, body(circuit))
    IdempotentRequest.objects.update(status=None)
    answer = submit(caller, body(circuit))
    assert (answer.status_code, answer.json()["code"]) == (409, "request_in_flight")
    assert answer["Retry-After"] == "1"


def test_a_request_cut_short_is_taken_up_and_makes_no_second_job(
    caller: Caller, circuit: Circuit, dispatched: Dispatched
) -> None:
    first = submit(caller, body(circuit))
    long_ago = timezone.now() - 2 * idempotency.ABANDONED_AFTER
    IdempotentRequest.objects.update(status=None, body=None, claimed_at=long_ago)
    second = submit(caller, body(circuit))
    assert (second.status_code, second.json()["id"]) == (200, first.json()["id"])
    assert Job.objects.count() == 1


def test_a_refused_request_leaves_its_key_free(
    caller: Caller, circuit: Circuit, dispatched: Dispatched
) -> None:
    assert submit(caller, {"circuit": circuit.pk, "inputs": []}).status_code == 422
    assert submit(caller, body(circuit)).status_code == 202


def test_keys_of_different_owners_are_different(
    caller: Caller, calling: Callable[[User], Caller], bob: User, circuit: Circuit, dispatched: Dispatched
) -> None:
    submit(caller, body(circuit))
    assert submit(calling(bob), body(circuit)).json()["code"] == "not_found"


def test_a_key_is_forgotten_in_the_end(caller: Caller, circuit: Circuit, dispatched: Dispatched) -> None:
    submit(caller, body(circuit))
    IdempotentRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert submit(caller, body(circuit, 3)).status_code == 202
    IdempotentRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert idempotency.forget_expired() == 1


@pytest.mark.parametrize("key", ["", "with blank", "ü", "x" * 256])
def test_a_key_that_is_none_is_refused(caller: Caller, circuit: Circuit, key: str) -> None:
    answer = submit(caller, body(circuit), {"idempotency-key": key})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_idempotency_key")


def test_files_count_by_their_content(
    caller: Caller,
    circuit: Circuit,
    multiplier: CircuitFolder,
    dispatched: Dispatched,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    def send(content: bytes) -> Any:
        fields = {"circuit": circuit.pk, "witness": SimpleUploadedFile("w.wtns", content)}
        with django_capture_on_commit_callbacks(execute=True):
            return caller.client.post(JOBS, fields, headers=KEY)

    witness = multiplier.wtns.read_bytes()
    first, second = send(witness), send(witness)
    assert (first.status_code, second.json()) == (202, first.json())
    assert send(witness + b"\0").json()["code"] == "idempotency_key_reused"


def test_no_input_is_kept_with_a_key(caller: Caller, circuit: Circuit, dispatched: Dispatched) -> None:
    secret = 987654321987654321
    submit(caller, {"circuit": circuit.pk, "inputs": [{"a": secret, "b": 2}]})
    assert str(secret) not in str(IdempotentRequest.objects.values().get())
