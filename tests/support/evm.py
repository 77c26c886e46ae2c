"""A real EVM (py-evm) and a real Solidity compiler (npm's solc), where they are installed."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY

MODULES = REPOSITORY / "tests" / "node" / "node_modules"
COMPILE = """
const solc = require('solc');
const input = JSON.parse(require('fs').readFileSync(0, 'utf8'));
process.stdout.write(solc.compile(JSON.stringify(input)));
"""
SENDER, CONTRACT = b"\1" * 20, b"\2" * 20
GAS = 3_000_000


@dataclass(frozen=True)
class Contract:
    """A compiled contract on a chain of its own."""

    machine: Any
    code: bytes
    selectors: dict[str, bytes]

    def call(self, data: bytes) -> bytes | None:
        """What a call answers; None when it fails."""
        done = self.machine.execute_bytecode(
            origin=SENDER,
            gas_price=0,
            gas=GAS,
            to=CONTRACT,
            sender=SENDER,
            value=0,
            data=data,
            code=self.code,
            code_address=CONTRACT,
        )
        return done.output if done.is_success else None


def compile_contract(text: str) -> tuple[bytes, dict[str, bytes]]:
    """The code of a contract as it lies on the chain, and the selectors of its functions."""
    request = {
        "language": "Solidity",
        "sources": {"contract.sol": {"content": text}},
        "settings": {
            "optimizer": {"enabled": True},
            "evmVersion": "shanghai",
            "outputSelection": {"*": {"*": ["evm.deployedBytecode.object", "evm.methodIdentifiers"]}},
        },
    }
    done = subprocess.run(
        ["node", "-e", COMPILE],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=True,
        env={"NODE_PATH": str(MODULES), **os.environ},
        timeout=120,
    )
    answer = json.loads(done.stdout)
    assert "errors" not in answer, answer["errors"]
    (compiled,) = answer["contracts"]["contract.sol"].values()
    selectors = {name: bytes.fromhex(value) for name, value in compiled["evm"]["methodIdentifiers"].items()}
    return bytes.fromhex(compiled["evm"]["deployedBytecode"]["object"]), selectors


def has_solc() -> bool:
    """Whether node finds solc."""
    found = [MODULES, *os.environ.get("NODE_PATH", "").split(":")]
    return shutil.which("node") is not None and any((Path(folder) / "solc").is_dir() for folder in found)


def deploy(text: str) -> Contract:
    """A contract on a fresh chain. Skips where compiler or EVM are missing."""
    if not has_solc():
        pytest.skip("solc is not in tests/node/node_modules (npm install there)")
    chains = pytest.importorskip("eth.chains.base", reason="py-evm is not installed")
    from eth.constants import ZERO_ADDRESS, ZERO_HASH32
    from eth.db.atomic import AtomicDB
    from eth.vm.forks.shanghai import ShanghaiVM

    genesis = {
        "difficulty": 0,
        "gas_limit": 30_000_000,
        "timestamp": 1,
        "coinbase": ZERO_ADDRESS,
        "extra_data": b"",
        "nonce": bytes(8),
        "mix_hash": ZERO_HASH32,
    }
    kind = chains.MiningChain.configure(__name__="Chain", vm_configuration=((0, ShanghaiVM),))
    code, selectors = compile_contract(text)
    return Contract(kind.from_genesis(AtomicDB(), genesis).get_vm(), code, selectors)
