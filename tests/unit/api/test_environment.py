"""Environment variables become typed values, or an error that names the variable."""

import ssl
import stat
from pathlib import Path

import pytest
import redis
from kombu import Connection

from cuzkweb.environment import (
    Environment,
    VariableError,
    database_from_url,
    kept_secret,
    redis_from_url,
    secret_key,
    sqlite_database,
)
from cuzkweb.storage import storage_from_url


def env(**variables: str) -> Environment:
    return Environment(variables)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", True), ("yes", True), ("ON", True), ("true", True), ("0", False), ("no", False), ("Off", False)],
)
def test_booleans_have_words(text: str, value: bool) -> None:
    assert env(X=text).boolean("X", default=not value) is value


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_variable_counts_as_not_set(text: str) -> None:
    assert env(X=text).boolean("X", default=True) is True
    assert env(X=text).integer("X", 7) == 7
    assert env(X=text).size("X", 9) == 9
    assert env(X=text).seconds("X", 1.5) == 1.5
    assert env(X=text).names("X", ("a",)) == ["a"]


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0), ("1048576", 2**20), ("512MiB", 2**29), ("4 GiB", 2**32), ("10GB", 10**10), ("3kb", 3000)],
)
def test_sizes_may_have_units(text: str, value: int) -> None:
    assert env(X=text).size("X", 1) == value


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        ("boolean", "maybe"),
        ("integer", "1.5"),
        ("integer", "ten"),
        ("integer", "9" * 30),
        ("size", "4 apples"),
        ("size", "-1"),
        ("seconds", "0"),
        ("seconds", "nan"),
        ("seconds", "1e3"),
    ],
)
def test_errors_name_the_variable_and_not_its_value(reader: str, text: str) -> None:
    readers = {
        "boolean": lambda e: e.boolean("THE_NAME", default=True),
        "integer": lambda e: e.integer("THE_NAME", 1),
        "size": lambda e: e.size("THE_NAME", 1),
        "seconds": lambda e: e.seconds("THE_NAME", 1),
    }
    with pytest.raises(VariableError, match="THE_NAME") as caught:
        readers[reader](env(THE_NAME=text))
    assert text not in str(caught.value).removeprefix("environment variable THE_NAME")


def test_integers_have_a_least_value() -> None:
    with pytest.raises(VariableError, match="at least 1"):
        env(X="0").integer("X", 3, minimum=1)


def test_names_are_divided_by_commas() -> None:
    assert env(X=" a.example , b.example,, ").names("X") == ["a.example", "b.example"]


def test_a_postgresql_url_becomes_settings() -> None:
    found = database_from_url("postgresql://al%40ice:p%2Fw@db.example:5433/proofs?sslmode=require")
    assert found["ENGINE"] == "django.db.backends.postgresql"
    assert (found["USER"], found["PASSWORD"]) == ("al@ice", "p/w")
    assert (found["HOST"], found["PORT"], found["NAME"]) == ("db.example", "5433", "proofs")
    assert found["OPTIONS"].items() >= {"sslmode": "require", "tcp_user_timeout": "20000"}.items()


def test_a_sqlite_url_becomes_settings() -> None:
    assert database_from_url("sqlite:////var/lib/cuzk/db.sqlite3") == sqlite_database(
        Path("//var/lib/cuzk/db.sqlite3")
    )


@pytest.mark.parametrize(
    "url", ["mysql://x/y", "sqlite://db", "nonsense", "postgres://host", "postgres://h:99999/d"]
)
def test_other_database_urls_are_refused(url: str) -> None:
    with pytest.raises(VariableError, match="DATABASE_URL"):
        database_from_url(url)


def test_sqlite_locks_at_the_start_of_a_transaction_and_waits() -> None:
    options = sqlite_database(Path("/x"))["OPTIONS"]
    assert options["transaction_mode"] == "IMMEDIATE"
    assert options["timeout"] == 20
    assert "WAL" in options["init_command"]


def test_a_kept_secret_is_drawn_once_and_private(tmp_path: Path) -> None:
    path = tmp_path / "home" / "secret_key"
    first = kept_secret(path)
    assert len(first) >= 50
    assert kept_secret(path) == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]
    assert kept_secret(tmp_path / "other") != first


@pytest.mark.parametrize(
    "url",
    [
        "redis://host",
        "redis://:secret@host:6379/1",
        "redis://someone:a%2Fb@host:6379/0",
        "unix:///run/redis.sock",
        "unix://someone:secret@/run/redis.sock?db=2",
    ],
)
def test_redis_without_tls_is_taken_as_it_is(url: str) -> None:
    assert redis_from_url(url) == url


@pytest.mark.parametrize("query", ["", "?ssl_cert_reqs=required", "?ssl_ca_certs=/etc/ca.pem"])
def test_redis_with_tls_has_its_certificate_checked_by_every_client(query: str) -> None:
    url = redis_from_url(f"rediss://someone:pass%20word@host:6380/2{query}")

    client = redis.Redis.from_url(url).connection_pool
    broker = Connection(url)

    assert client.connection_class is redis.SSLConnection
    assert client.connection_kwargs["ssl_cert_reqs"] == "required"
    assert broker.ssl["ssl_cert_reqs"] == ssl.CERT_REQUIRED
    assert (broker.userid, broker.password, broker.virtual_host) == ("someone", "pass word", "2")
    assert (client.connection_kwargs["username"], client.connection_kwargs["password"]) == (
        "someone",
        "pass word",
    )
    if "ca.pem" in query:
        assert client.connection_kwargs["ssl_ca_certs"] == broker.ssl["ssl_ca_certs"] == "/etc/ca.pem"


@pytest.mark.parametrize(
    "url",
    [
        "rediss://:secret@host/0?ssl_cert_reqs=none",
        "rediss://:secret@host/0?ssl_cert_reqs=optional",
        "redis://:secret@host:99999/0",
        "redis://:secret@host/zero",
        "redis://",
        "http://:secret@host/0",
        "unix://",
        "host:6379",
    ],
)
def test_other_addresses_of_redis_are_refused_without_their_secret(url: str) -> None:
    with pytest.raises(VariableError, match="REDIS_URL") as caught:
        redis_from_url(url)
    assert "secret" not in str(caught.value)


def test_a_secret_is_required_where_others_reach_the_service(tmp_path: Path) -> None:
    alone = Environment({})
    kept = tmp_path / "secret_key"
    for hosts, shared in ((["prove.example.org"], False), (["localhost"], True)):
        with pytest.raises(VariableError, match="CUZKWEB_SECRET_KEY: is required"):
            secret_key(alone, kept, hosts, shared=shared)
    assert not kept.exists()
    assert secret_key(alone, kept, ["localhost"], shared=False) == kept.read_text()
    assert secret_key(Environment({"CUZKWEB_SECRET_KEY": "given"}), kept, ["x"], shared=True) == "given"


def test_a_shared_storage_is_an_address_without_its_key() -> None:
    found = storage_from_url("s3://bucket/a/b?endpoint_url=https://s3.example&encryption=AES256")
    assert found["BACKEND"] == "storages.backends.s3.S3Storage"
    told = {name: found["OPTIONS"][name] for name in ("bucket_name", "location", "endpoint_url")}
    assert told == {"bucket_name": "bucket", "location": "a/b", "endpoint_url": "https://s3.example"}
    assert found["OPTIONS"]["object_parameters"] == {"ServerSideEncryption": "AES256"}
    assert storage_from_url("file:///srv/shared")["OPTIONS"]["location"] == "/srv/shared"


@pytest.mark.parametrize(
    "url", ["s3://", "s3://key:secret@bucket", "s3://bucket?acl=public", "file://host/x", "ftp://x/y"]
)
def test_other_storages_are_refused_without_their_secret(url: str) -> None:
    with pytest.raises(VariableError) as caught:
        storage_from_url(url)
    assert "secret" not in str(caught.value)
