"""Whatever is asked, nothing is a 500, and every refusal is a problem that the description describes."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
import yaml
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from proving.choices import Scope
from proving.models import Circuit
from proving.services import keys
from tests.conftest import REPOSITORY
from tests.integration.conftest import Dispatched

pytestmark = pytest.mark.django_db

LENIENT = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

numbers = st.integers() | st.floats(allow_nan=False) | st.integers(min_value=2**250, max_value=2**260)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = """
    circuit inputs request_id priority label deadline on_failure proof public proofs form curve
    verifying_key name scopes expires_at url witness
"""
QUERIES = """
    state circuit ordering created_after created_before limit cursor wait partition form since jobs
"""
READ = """
    jobs circuits keys webhooks jobs/{} jobs/{}/proof jobs/{}/timeline circuits/{} webhooks/{}
    webhooks/{}/deliveries status {}
"""
KINDS = ["application/json", "multipart/form-data", "multipart/form-data; boundary=x", "text/plain", ""]
names = st.sampled_from(FIELDS.split())
bodies = values | st.dictionaries(names, values, max_size=6)
segments = st.text(max_size=30).filter(lambda text: "/" not in text and text not in {".", ".."})
queries = st.dictionaries(
    st.sampled_from(QUERIES.split()), st.text(max_size=20) | st.integers().map(str), max_size=4
)
posted = st.sampled_from(["jobs", "verify", "keys", "webhooks", "circuits"])
read = st.sampled_from(READ.split())


@pytest.fixture
def client(home: None, alice: User, dispatched: Dispatched) -> Client:
    _, plain = keys.create_key(alice, "all", tuple(Scope))
    return Client(headers={"authorization": f"Bearer {plain}"}, raise_request_exception=False)


@pytest.fixture
def check() -> Callable[[Any], None]:
    """Holds an answer against the description."""
    described = yaml.safe_load((REPOSITORY / "docs" / "openapi.yaml").read_text())
    schema = {"$ref": "#/components/schemas/ProblemDocument", "components": described["components"]}
    problem = Draft202012Validator(schema)

    def hold(answer: Any) -> None:
        if answer.status_code == 503:
            assert answer.json()["code"] == "live_state_unavailable"
        else:
            assert answer.status_code < 500, answer.content
        if answer.status_code >= 400:
            assert answer["Content-Type"] == "application/problem+json"
            problem.validate(answer.json())
            assert answer.json()["status"] == answer.status_code

    return hold


@LENIENT
@given(path=posted, body=bodies, key=st.none() | st.text(alphabet="abc é", max_size=5))
def test_any_json_body(
    client: Client, circuit: Circuit, check: Callable[[Any], None], *, path: str, body: Any, key: str | None
) -> None:
    headers = {} if key is None else {"idempotency-key": key}
    if isinstance(body, dict) and "circuit" in body:
        body["circuit"] = circuit.pk
    check(client.post(f"/api/v1/{path}", body, content_type="application/json", headers=headers))


@LENIENT
@given(
    path=posted,
    raw=st.binary(max_size=60),
    kind=st.sampled_from(KINDS),
)
def test_any_bytes(client: Client, check: Callable[[Any], None], path: str, raw: bytes, kind: str) -> None:
    check(client.generic("POST", f"/api/v1/{path}", raw, content_type=kind))


@LENIENT
@given(path=read, segment=segments, query=queries)
def test_any_question(
    client: Client,
    check: Callable[[Any], None],
    path: str,
    segment: str,
    query: dict[str, str],
) -> None:
    if "wait" in query:
        query["wait"] = "0"
    check(client.get(f"/api/v1/{path.format(quote(segment))}", query))


@LENIENT
@given(method=st.sampled_from(["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "HEAD"]), path=posted)
def test_any_method(client: Client, check: Callable[[Any], None], method: str, path: str) -> None:
    answer = client.generic(method, f"/api/v1/{path}")
    if method != "HEAD":
        check(answer)


@LENIENT
@given(header=st.text(alphabet=st.characters(max_codepoint=255), max_size=40))
def test_any_credentials(home: None, check: Callable[[Any], None], header: str) -> None:
    answer = Client(raise_request_exception=False).get("/api/v1/jobs", HTTP_AUTHORIZATION=header)
    assert answer.status_code == 401
    check(answer)
