"""Verifier contracts: their text, and what a real EVM answers."""

import pytest

from kernels.curves import BN254
from kernels.device import open_device
from proving.formats.calldata import (
    is_calldata,
    proof_from_abi,
    proof_from_calldata,
    proof_to_abi,
    proof_to_calldata,
)
from proving.formats.contract import verifier_contract
from proving.formats.errors import FormatError
from proving.groth16.objects import Proof, VerifyingKey
from proving.groth16.prover import prove
from proving.groth16.setup import setup
from tests.support.evm import Contract, deploy
from tests.unit.groth16.reference import product_chain, times, words

YES, NO = (1).to_bytes(32, "big"), bytes(32)


@pytest.fixture(scope="module")
def proved():
    """A key with one public signal, and a statement proved with it."""
    system, witness = product_chain(BN254, 3)
    key, device = setup(system), open_device("host", threads=1)
    found = prove(device, key, words(witness))
    device.close()
    return key.verifying_key, found


@pytest.fixture(scope="module")
def contract(proved) -> Contract:
    return deploy(verifier_contract(proved[0]))


def call(contract: Contract, proof: Proof, public) -> bytes | None:
    (selector,) = contract.selectors.values()
    return contract.call(proof_to_abi(proof, public, selector))


def test_the_function_is_snarkjss(contract):
    assert list(contract.selectors) == ["verifyProof(uint256[2],uint256[2][2],uint256[2],uint256[1])"]


def test_a_valid_proof_and_another_statement(contract, proved):
    statement = proved[1]
    assert call(contract, statement.proof, statement.public) == YES
    assert call(contract, statement.proof, [statement.public[0] ^ 1]) == NO


def test_an_alias_of_a_signal_is_refused(contract, proved):
    statement = proved[1]
    for alias in (statement.public[0] + BN254.r, 2**256 - 1, BN254.r):
        assert call(contract, statement.proof, [alias]) == NO


def test_points_that_are_none_are_refused(contract, proved):
    data = proof_to_abi(proved[1].proof, proved[1].public, next(iter(contract.selectors.values())))
    for word in range(8):
        changed = bytearray(data)
        changed[4 + 32 * word + 31] ^= 1
        assert contract.call(bytes(changed)) == NO
    c_y = int.from_bytes(data[4 + 7 * 32 : 4 + 8 * 32], "big")
    alias = data[: 4 + 7 * 32] + (c_y + BN254.q).to_bytes(32, "big") + data[4 + 8 * 32 :]
    assert contract.call(alias) == NO
    assert contract.call(data[:-1]) is None
    assert contract.call(b"\0\0\0\0" + data[4:]) is None


def test_the_proof_at_infinity_proves_nothing(contract):
    assert call(contract, Proof(BN254, None, None, None), [1]) == NO


def test_no_public_signals(proved):
    key = VerifyingKey(*(getattr(proved[0], name) for name in VerifyingKey.__slots__[:5]), proved[0].ic[:1])
    text = verifier_contract(key)
    assert "signals" not in text.split("verifyProof(")[1].split(")")[0]
    assert call(deploy(text), proved[1].proof, []) == NO


def test_names_and_curves(proved, small_key_bls):
    assert "contract Mine {" in verifier_contract(proved[0], "Mine")
    for name in ("", "1x", "a b", "x{", "x" * 65):
        with pytest.raises(ValueError, match="no name for a contract"):
            verifier_contract(proved[0], name)
    with pytest.raises(ValueError, match="are for bn254"):
        verifier_contract(small_key_bls.verifying_key)


class TestCalldata:
    """The arguments of such a contract, as text and as bytes."""

    def test_there_and_back(self):
        for scalar in (1, -1, 5):
            proof = Proof(BN254, times(BN254, 1, scalar), times(BN254, 2, scalar), times(BN254, 1, 7))
            for public in ((), (0,), (1, BN254.r - 1)):
                text = proof_to_calldata(proof, public).encode()
                assert is_calldata(text)
                assert proof_from_calldata(text) == (proof, public)
                assert proof_from_abi(proof_to_abi(proof, public)) == (proof, public)
                assert proof_from_abi(proof_to_abi(proof, public, b"\1\2\3\4")) == (proof, public)

    def test_c1_comes_first(self):
        text = proof_to_calldata(Proof(BN254, BN254.g1, BN254.g2, BN254.g1), ())
        first = text.split("[[")[1].split('"')[1]
        assert int(first, 16) == BN254.g2[0][1]

    @pytest.mark.parametrize(
        "text",
        [
            '["0x1"]',
            '["0x1","0x2"],[["0x1","0x2"],["0x1","0x2"]],["0x1","0x2"]',
            '["0x1","0x2"],[["0x1","0x2"]],["0x1","0x2"],[]',
            '["0x1","0x2"],[["0x1","0x2"],["0x1","0x2"]],["0x1",2],[]',
            '["0x1","0x2"],[["0x1","0x2"],["0x1","0x2"]],["0x1","2"],[]',
            '["0x1","0x2"],[["0x1","0x2"],["0x1","0x2"]],["0x1","0x2"],["0x' + "1" * 65 + '"]',
            f'["{hex(BN254.q)}","0x2"],[["0x1","0x2"],["0x1","0x2"]],["0x1","0x2"],[]',
            '["0x1","0x2"],',
        ],
    )
    def test_what_is_no_calldata(self, text):
        with pytest.raises(FormatError):
            proof_from_calldata(text.encode())

    @pytest.mark.parametrize("size", [0, 4, 255, 252, 257, 261])
    def test_calls_of_another_length(self, size):
        with pytest.raises(FormatError, match="no call of a verifier"):
            proof_from_abi(bytes(size))
