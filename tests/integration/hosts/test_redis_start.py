"""The script that starts Redis in its container, run on this machine with Debian's server."""

import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis

from cuzkweb.environment import redis_from_url
from cuzkweb.supervisor.ports import free_port
from tests.conftest import REPOSITORY
from tests.support.processes import wait_for
from tests.support.servers import need_redis
from tests.support.valkey import die_with_parent

PASSWORD = secrets.token_hex(16)


@contextmanager
def started(folder: Path, **environment: str) -> Iterator[int]:
    """The server on a port of loopback."""
    need_redis()
    (folder / "redis_password").write_text(PASSWORD + "\n")
    port = free_port(0)
    own = {
        "PATH": os.environ["PATH"],
        "REDIS_SECRETS": str(folder),
        "REDIS_CONFIG": str(folder),
        "REDIS_DATA": str(folder),
        "REDIS_PORT": str(port),
        **environment,
    }
    process = subprocess.Popen(
        ["/bin/sh", REPOSITORY / "docker" / "redis-start"],
        env=own,
        stdout=subprocess.DEVNULL,
        preexec_fn=die_with_parent,  # noqa: PLW1509
    )
    try:
        yield port
    finally:
        process.terminate()
        process.wait(20)


def answers(address: str) -> bool:
    try:
        with redis.Redis.from_url(address) as client:
            return bool(client.ping())
    except redis.ConnectionError:
        return False


def test_the_one_user_may_use_the_deployments_keys_and_nothing_else(tmp_path: Path) -> None:
    with started(tmp_path, CUZKWEB_DEPLOYMENT="one") as port:
        address = f"redis://cuzkweb:{PASSWORD}@127.0.0.1:{port}/0"
        wait_for(lambda: answers(address), "it answers", 20)
        with redis.Redis.from_url(address) as client:
            assert client.set("{cuzk:one}:x", "1")
            assert client.info("memory")["maxmemory_policy"] == "noeviction"
            for forbidden in (
                lambda: client.set("{cuzk:two}:x", "1"),
                lambda: client.config_get("dir"),
                client.flushall,
                lambda: client.keys("*"),
            ):
                with pytest.raises(redis.exceptions.NoPermissionError):
                    forbidden()
        with redis.Redis(port=port) as stranger, pytest.raises(redis.exceptions.AuthenticationError):
            stranger.ping()
    assert PASSWORD not in (tmp_path / "users.acl").read_text()
    for name in ("users.acl", "redis.conf"):
        assert (tmp_path / name).stat().st_mode & 0o077 == 0


def test_with_tls_it_shows_its_certificate_and_speaks_nothing_else(tmp_path: Path) -> None:
    make_certificate(tmp_path)
    with started(tmp_path, REDIS_TLS="1") as port:
        options = f"ssl_ca_certs={tmp_path / 'redis_authority'}"
        address = redis_from_url(f"rediss://cuzkweb:{PASSWORD}@127.0.0.1:{port}/0?{options}")
        wait_for(lambda: answers(address), "it answers", 20)
        assert not answers(f"redis://cuzkweb:{PASSWORD}@127.0.0.1:{port}/0")
        assert not answers(redis_from_url(f"rediss://cuzkweb:{PASSWORD}@127.0.0.1:{port}/0")), "unknown to us"


def make_certificate(folder: Path) -> None:
    """A certificate for this machine's loopback that vouches for itself."""
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    command += ["-days", "1", "-subj", "/CN=redis", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(folder / "redis_key"), "-out", str(folder / "redis_certificate")]
    try:
        subprocess.run([*command, *files], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not here: apt-get install openssl")
    (folder / "redis_authority").write_bytes((folder / "redis_certificate").read_bytes())
