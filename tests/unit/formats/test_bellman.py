"""bellman's parameters and proofs, against files that bellman wrote, Zcash's among them."""

import json
from pathlib import Path

import pytest

from kernels.curves import BLS12_381
from kernels.device import open_device
from proving.formats.bellman import (
    proof_from_bellman,
    proof_to_bellman,
    proofs_from_bellman,
    read_parameters,
    validate_queries,
    verifying_key_from_bellman,
    verifying_key_to_bellman,
)
from proving.formats.bellman_key import encode_parameters, key_from_parameters
from proving.formats.errors import FormatError
from proving.formats.snarkjs import proof_from_json, public_from_json, read_verifying_key
from proving.formats.zcash_points import encode_g1
from proving.groth16.prover import prove
from proving.groth16.qap import RowOrder, bellman_exponent
from proving.groth16.setup import setup
from proving.groth16.verifier import Check, verify, verify_batch
from tests.unit.commands.conftest import as_r1cs
from tests.unit.groth16.reference import product_chain, verifies, words

BELLMAN_ROOT = 0x16A2A19EDFE81F20D09B681922C813B4B63683508C2280B93829971F439F0D2B


@pytest.fixture(scope="module")
def folder(compiled) -> Path:
    return compiled.parent / "bellman"


@pytest.fixture(scope="module")
def chain():
    """The circuit that the files are for, and its witness."""
    return product_chain(BLS12_381, 9)


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> bytes:
    """Parameters of a smaller circuit, made here."""
    return b"".join(encode_parameters(setup(product_chain(BLS12_381, 2)[0], order=RowOrder.BELLMAN)))


def test_rows_stand_at_the_powers_of_bellmans_root():
    root = pow(BLS12_381.root_of_unity(32), bellman_exponent(BLS12_381), BLS12_381.r)
    assert root == BELLMAN_ROOT  # the constant of the bls12_381 crate


def test_bellmans_proof_verifies(folder, chain):
    parameters = read_parameters(folder / "chain.params")
    validate_queries(parameters)
    proof = proof_from_bellman((folder / "chain.proof").read_bytes())
    key, public = parameters.verifying_key.key, chain[1][1]
    assert verify(key, proof, [public]).valid
    assert verifies(key, proof, [public])
    assert proof_to_bellman(proof) == (folder / "chain.proof").read_bytes()


def test_we_prove_with_bellmans_parameters(folder, chain):
    parameters = read_parameters(folder / "chain.params")
    key = key_from_parameters(parameters, as_r1cs(chain[0]), "chain")
    device = open_device("host", threads=1)
    statement = prove(device, key, words(chain[1]))
    device.close()
    assert verifies(parameters.verifying_key.key, statement.proof, statement.public)
    assert b"".join(encode_parameters(key)) == (folder / "chain.params").read_bytes()


@pytest.mark.parametrize("length", [1, 2, 5, 6, 13, 14, 15])
@pytest.mark.parametrize("public", [0, 1])
def test_development_parameters_of_every_size(tmp_path, length, public):
    system, witness = product_chain(BLS12_381, length, public)
    path = tmp_path / "k.params"
    path.write_bytes(b"".join(encode_parameters(setup(system, order=RowOrder.BELLMAN))))
    parameters = read_parameters(path)
    assert parameters.domain_size == 1 << (length + public).bit_length()
    key = key_from_parameters(parameters, as_r1cs(system), f"{length} {public}")
    device = open_device("host", threads=1)
    assert prove(device, key, words(witness)).public == tuple(witness[1 : 1 + public])
    device.close()


def test_a_zkeys_h_is_not_bellmans(small_key_bls):
    with pytest.raises(ValueError, match="values of the quotient"):
        encode_parameters(small_key_bls)


def refusal(tmp_path, content: bytes, read=read_parameters) -> FormatError:
    path = tmp_path / "bad.params"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        read(path)
    assert caught.value.file == str(path)
    return caught.value


def counts_at(content: bytes) -> dict[str, int]:
    """Where the counts of the queries stand."""
    place = 868 + 96 * int.from_bytes(content[864:868], "big")
    found = {}
    for name in ("h", "l", "a", "b_g1", "b_g2"):
        found[name] = place
        size = 192 if name == "b_g2" else 96
        place += 4 + size * int.from_bytes(content[place : place + 4], "big")
    assert place == len(content)
    return found


def test_counts_are_held_against_the_size(tmp_path, small):
    assert refusal(tmp_path, small[:-1]).place == "b_g2 query"
    assert refusal(tmp_path, small + b"\0").place == "end of file"
    assert refusal(tmp_path, small[:100]).place == "verifying key"
    assert "0 bytes are left" in refusal(tmp_path, small[:864] + b"\xff" * 4).reason
    for name, place in counts_at(small).items():
        huge = small[:place] + b"\xff\xff\xff\xff" + small[place + 4 :]
        error = refusal(tmp_path, huge)
        assert (error.place, "points" in error.reason) == (f"{name} query", True)


def test_h_is_one_less_than_a_power_of_two(tmp_path, small):
    place = counts_at(small)["h"]
    count = int.from_bytes(small[place : place + 4], "big")
    shorter = small[:place] + (count - 1).to_bytes(4, "big") + small[place + 4 + 96 :]
    assert "one less than a power of two" in refusal(tmp_path, shorter).reason


def test_points_of_the_queries_are_checked(tmp_path, small):
    from proving.formats.square_roots import square_root

    place = counts_at(small)["l"] + 4
    infinity = small[:place] + encode_g1(None, compressed=False) + small[place + 96 :]
    x = next(x for x in range(1, 50) if square_root(x**3 + 4, BLS12_381.q))
    outside = encode_g1((x, square_root(x**3 + 4, BLS12_381.q)), compressed=False)  # not in the subgroup

    def validate(path):
        validate_queries(read_parameters(path))

    assert "point 0 is at infinity" in refusal(tmp_path, infinity, validate).reason
    for point in (outside, b"\0" * 95 + b"\1"):
        changed = small[: place + 96] + point + small[place + 192 :]
        error = refusal(tmp_path, changed, validate)
        assert (error.place, "point 1" in error.reason) == ("l query", True)


def test_a_key_with_a_point_at_infinity_or_outside_is_refused(small):
    key = small[: counts_at(small)["h"]]
    assert verifying_key_to_bellman(verifying_key_from_bellman(key)) == key
    for place, size in ((0, 96), (384, 192), (868, 96)):
        with pytest.raises(FormatError, match="is at infinity"):
            verifying_key_from_bellman(key[:place] + b"\x40" + bytes(size - 1) + key[place + size :])
    with pytest.raises(FormatError, match="has no ic points"):
        verifying_key_from_bellman(key[:864] + bytes(4))


@pytest.mark.parametrize("size", [0, 1, 191, 193, 383])
def test_proofs_have_192_bytes_each(folder, size):
    data = 2 * (folder / "chain.proof").read_bytes()
    with pytest.raises(FormatError, match=f"has {size} bytes"):
        proofs_from_bellman(data[:size])
    with pytest.raises(FormatError, match="384 bytes where 192"):
        proof_from_bellman(data)


@pytest.fixture(scope="module")
def mainnet(shared_fixtures):
    """For each kind its key, proofs as bytes and public inputs."""
    folder = shared_fixtures / "zcash-sapling"
    found = {}
    for kind, items in json.loads((folder / "chain_proofs.json").read_text()).items():
        key = read_verifying_key(folder / f"{kind}.verification_key.json")
        proofs = [bytes.fromhex(item["proof_hex"]) for item in items]
        assert [proof_from_bellman(data) for data in proofs] == [
            proof_from_json(item["proof"]) for item in items
        ]
        found[kind] = key, proofs, [public_from_json(item["public"]) for item in items]
    return found


class TestZcash:
    """The Sapling output circuit and proofs from mainnet blocks."""

    pytestmark = pytest.mark.shared

    def test_parameters_hold_the_key(self, shared_fixtures, mainnet):
        parameters = read_parameters(shared_fixtures / "zcash-sapling" / "sapling-output.params")
        assert parameters.verifying_key.key == mainnet["output"][0]
        assert (len(parameters.h), len(parameters.l), len(parameters.a)) == (8191, 7821, 6298)
        assert (len(parameters.b_g1), len(parameters.b_g2)) == (4850, 4850)
        assert (parameters.variable_count, parameters.contributions) == (7827, 97)

    @pytest.mark.parametrize("kind", ["output", "sprout_joinsplit"])
    def test_singly_and_together(self, mainnet, kind):
        key, data, publics = mainnet[kind]
        proofs = proofs_from_bellman(b"".join(data))
        assert all(verify(key, proof, public).valid for proof, public in zip(proofs, publics, strict=True))
        assert verify_batch(key, proofs, publics).valid

    def test_not_with_one_bit_changed(self, mainnet):
        """In every byte of a proof one bit: refused where it is read, or by the verifier."""
        key, data, publics = mainnet["output"]
        for place in range(0, 192, 5):
            changed = bytearray(data[place % 20])
            changed[place] ^= 1 << (place % 8)
            try:
                proof = proof_from_bellman(bytes(changed))
            except FormatError:
                continue
            assert not verify(key, proof, publics[place % 20]).valid

    def test_the_bad_ones_of_a_batch_are_named(self, mainnet):
        key, data, publics = mainnet["output"]
        proofs = [proof_from_bellman(item) for item in data]
        swapped = [*proofs[:4], proofs[11], *proofs[5:]]
        changed = [*publics[:17], [publics[17][0] ^ 1, *publics[17][1:]], *publics[18:]]
        verdict = verify_batch(key, swapped, changed)
        assert [(index, found.failed) for index, found in verdict.bad] == [
            (4, Check.PAIRING),
            (17, Check.PAIRING),
        ]


@pytest.mark.shared
def test_filecoin_records_are_whole_partitions(shared_fixtures):
    """Their keys are not here: every proof decodes, and encodes to the same bytes."""
    folder, seen = shared_fixtures / "filecoin-regression", set()
    with (folder / "seal_regression_records-v18.json").open() as records:
        for line in records:
            record = json.loads(line)
            data = bytes(record["proof"])
            if len(data) % 192 or len(data) > 1920:
                continue  # an aggregate
            proofs = proofs_from_bellman(data)
            assert b"".join(map(proof_to_bellman, proofs)) == data
            seen.add(len(proofs))
            if len(seen) > 1 and len(proofs) == max(seen):
                break
    assert seen
