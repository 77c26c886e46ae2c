"""A home of its own for each test, people with keys, and a small circuit's files."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from proving.choices import ProofKind
from proving.formats.r1cs import read_r1cs
from proving.formats.snarkjs import verifying_key_to_json, write_json
from proving.formats.wtns import Witness, write_witness
from proving.formats.zkey import write_zkey
from proving.groth16.setup import setup
from proving.models import Circuit, Job
from proving.services import dispatch, keys
from proving.services.register import CircuitFiles, register_circuit
from proving.synthesis.inputs import parse_inputs
from proving.synthesis.wasm import WitnessGenerator
from tests.conftest import REPOSITORY
from tests.support.valkey import valkey, valkey_socket  # noqa: F401  (fixtures)

FIXTURES = REPOSITORY / "tests" / "fixtures"


@dataclass(frozen=True)
class CircuitFolder:
    """The files of one circuit: what people would register, and a witness for it."""

    zkey: Path
    wasm: Path
    r1cs: Path
    vkey: Path
    wtns: Path
    input: dict[str, Any]

    def upload(self, **replaced: Any) -> dict[str, Any]:
        """The fields of a registration, as a test client posts them."""
        files = {
            "proving_key": self.zkey,
            "witness_generator": self.wasm,
            "r1cs": self.r1cs,
            "verifying_key": self.vkey,
        }
        fields: dict[str, Any] = {"name": "multiplier", **files, **replaced}
        return {name: as_upload(value) for name, value in fields.items() if value is not None}


def as_upload(value: Any) -> Any:
    """A path as an uploaded file; everything else as it is."""
    return SimpleUploadedFile(value.name, value.read_bytes()) if isinstance(value, Path) else value


def make_folder(name: str, folder: Path) -> CircuitFolder:
    """Fresh development keys, and a witness, for one of the compiled circuits."""
    compiled = FIXTURES / "compiled"
    key = setup(read_r1cs(compiled / f"{name}.r1cs"), threads=1)
    write_zkey(folder / f"{name}.zkey", key)
    write_json(folder / f"{name}.vkey.json", verifying_key_to_json(key.verifying_key))
    generator = WitnessGenerator(compiled / f"{name}.wasm", cache_dir=folder / "cache")
    text = (FIXTURES / "inputs" / f"{name}.json").read_bytes()
    values = generator.generate(parse_inputs(text, key.curve.r))
    write_witness(folder / f"{name}.wtns", Witness(key.curve, values))
    return CircuitFolder(
        folder / f"{name}.zkey",
        compiled / f"{name}.wasm",
        compiled / f"{name}.r1cs",
        folder / f"{name}.vkey.json",
        folder / f"{name}.wtns",
        json.loads(text),
    )


@pytest.fixture(scope="session")
def circuit_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], CircuitFolder]:
    """Makes the files of a compiled circuit, once."""
    made: dict[str, CircuitFolder] = {}

    def folder(name: str) -> CircuitFolder:
        if name not in made:
            made[name] = make_folder(name, tmp_path_factory.mktemp(name))
        return made[name]

    return folder


@pytest.fixture(scope="session")
def multiplier(circuit_folder: Callable[[str], CircuitFolder]) -> CircuitFolder:
    """product = a * b on BN254."""
    return circuit_folder("multiplier")


@pytest.fixture(scope="session")
def compiled_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled witness generators, which all homes share."""
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture
def home(tmp_path: Path, settings: Settings, compiled_modules: Path) -> Path:
    """A CUZKWEB_HOME that nobody else uses."""
    (tmp_path / "uploads").mkdir()
    (tmp_path / "cache").symlink_to(compiled_modules)
    settings.CUZKWEB_HOME = tmp_path
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path / "uploads")
    return tmp_path


@dataclass
class Dispatched:
    """What was handed to the live side."""

    enqueued: list[str] = field(default_factory=list)
    cancelled: list[tuple[str, str]] = field(default_factory=list)


@pytest.fixture
def dispatched(monkeypatch: pytest.MonkeyPatch) -> Dispatched:
    """Records what would go to the tracker and the workers."""
    seen = Dispatched()

    def enqueue(job: Job) -> None:
        assert Job.objects.filter(pk=job.pk).exists()
        seen.enqueued.append(job.pk)

    monkeypatch.setattr(dispatch, "enqueue_job", enqueue)
    monkeypatch.setattr(
        dispatch, "cancel_live", lambda job_id, reason: seen.cancelled.append((job_id, reason))
    )
    return seen


@pytest.fixture
def alice(db: None) -> User:
    return keys.ensure_owner("alice")


@pytest.fixture
def bob(db: None) -> User:
    return keys.ensure_owner("bob")


@pytest.fixture
def staff(db: None, settings: Settings) -> User:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    return keys.ensure_superuser("root", "a long password")


@dataclass(frozen=True)
class Caller:
    """A person at the API, with a key. What a commit triggers is run."""

    client: Client
    committing: DjangoCaptureOnCommitCallbacks
    user: User

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(path, query)

    def post(self, path: str, body: Any = None, **options: Any) -> Any:
        with self.committing(execute=True):
            return self.client.post(path, body, content_type="application/json", **options)

    def upload(self, path: str, fields: dict[str, Any]) -> Any:
        with self.committing(execute=True):
            return self.client.post(path, fields)


@pytest.fixture
def calling(
    home: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> Callable[[User], Caller]:
    """A caller for each user."""

    def make(user: User) -> Caller:
        _, plain = keys.create_key(user, "test")
        client = Client(headers={"authorization": f"Bearer {plain}"})
        return Caller(client, django_capture_on_commit_callbacks, user)

    return make


@pytest.fixture
def caller(calling: Callable[[User], Caller], alice: User) -> Caller:
    """Alice at the API."""
    return calling(alice)


@pytest.fixture
def circuit(home: Path, alice: User, multiplier: CircuitFolder) -> Circuit:
    """Alice's multiplier, registered."""
    given = multiplier.upload()
    files = CircuitFiles(
        given["proving_key"], given["witness_generator"], given["r1cs"], given["verifying_key"]
    )
    return register_circuit(alice, "multiplier", ProofKind.GROTH16, files).circuit
