"""Keys that others made: our proofs verify three ways, and their proofs verify here."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kernels.device import Device
from proving.formats.snarkjs import proof_from_json, proof_to_json, public_from_json, verifying_key_from_json
from proving.formats.wtns import read_witness
from proving.formats.zkey import read_zkey
from proving.groth16.objects import VerifyingKey
from proving.groth16.prover import ProvedStatement, prove
from proving.groth16.verifier import verify
from tests.unit.groth16.reference import verifies

pytestmark = pytest.mark.shared

GOLDEN = ("golden/witness.wtns", "golden/public.json", "golden/verification_key.json", "golden/proof.json")
OWN_FOLDER = ("{name}.wtns", "public.json", "verification_key.json", "proof.json")
EDGE = ("{name}.wtns", "{name}.public.json", "{name}.vk.json", "{name}.proof.json")
SETS = {
    "circom_runtime": ("circuit.zkey", GOLDEN),
    "semaphore-20": ("semaphore-20.zkey", GOLDEN),
    "poseidon-3": ("poseidon-3.zkey", GOLDEN),
    "unirep-signup": ("signup.zkey", GOLDEN),
    "rarimo-authV2": ("circuit_final.zkey", GOLDEN),
    "merkle20": ("merkle20.zkey", OWN_FOLDER),
    "edge/mul13": ("mul13.zkey", EDGE),
    "edge/mul14": ("mul14.zkey", EDGE),
    "edge/nopub": ("nopub.zkey", EDGE),
    "stellar-bls12381": ("multiplier2_0001.zkey", ("witness.wtns", *GOLDEN[1:])),
    "bls_merkle20": ("bls_merkle20.zkey", OWN_FOLDER),
}


@dataclass(frozen=True)
class Proved:
    """Our proof for a foreign key, and the set's own documents."""

    statement: ProvedStatement
    public: Any
    vkey: Any
    proof: Any

    @property
    def key(self) -> VerifyingKey:
        return verifying_key_from_json(self.vkey)


@pytest.fixture(scope="session", params=SETS)
def foreign(request: pytest.FixtureRequest, shared_fixtures: Path, host: Device) -> Proved:
    zkey, names = SETS[request.param]
    folder = shared_fixtures / request.param
    wtns, *documents = (folder / name.format(name=folder.name) for name in names)
    key = read_zkey(folder / zkey)
    statement = prove(host, key, read_witness(wtns, key.curve, key.variable_count).values)
    return Proved(statement, *(json.loads(path.read_text()) for path in documents))


def test_public_signals_are_the_golden_ones(foreign: Proved) -> None:
    assert [str(value) for value in foreign.statement.public] == foreign.public


def test_our_verifier_accepts_our_proof_with_the_golden_key(foreign: Proved) -> None:
    assert verify(foreign.key, foreign.statement.proof, foreign.statement.public).valid


def test_the_book_accepts_our_proof(foreign: Proved) -> None:
    assert verifies(foreign.key, foreign.statement.proof, foreign.statement.public)


@pytest.mark.node
def test_snarkjs_accepts_our_proof(foreign: Proved, snarkjs) -> None:
    assert snarkjs.verify(foreign.vkey, foreign.public, proof_to_json(foreign.statement.proof))


def test_our_verifier_accepts_the_golden_proof_and_no_other_statement(foreign: Proved) -> None:
    proof, public = proof_from_json(foreign.proof), public_from_json(foreign.public)
    assert verify(foreign.key, proof, public).valid
    if public:
        public[-1] ^= 1
        assert not verify(foreign.key, proof, public).valid


def test_every_chain_proof_verifies_and_no_altered_one(shared_fixtures: Path) -> None:
    folder = shared_fixtures / "zcash-sapling"
    proofs = json.loads((folder / "chain_proofs.json").read_text())
    assert sum(len(items) for items in proofs.values()) == 22
    for kind, items in proofs.items():
        key = verifying_key_from_json(json.loads((folder / f"{kind}.verification_key.json").read_text()))
        for item in items:
            proof, public = proof_from_json(item["proof"]), public_from_json(item["public"])
            assert verify(key, proof, public).valid
            assert not verify(key, proof, [public[0] ^ 1, *public[1:]]).valid
