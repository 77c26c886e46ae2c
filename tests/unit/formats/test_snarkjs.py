"""snarkjs JSON."""

import copy
import json

import pytest

from kernels.curves import BLS12_381, BN254
from proving.formats.errors import FormatError
from proving.formats.snarkjs import (
    proof_from_json,
    proof_to_json,
    public_from_json,
    public_to_json,
    read_json,
    read_proof,
    read_public,
    read_verifying_key,
    verifying_key_from_json,
    verifying_key_to_json,
    write_json,
)
from proving.groth16.objects import Proof

PROOF = {
    "pi_a": ["1", "2", "1"],
    "pi_b": [["3", "4"], ["5", "6"], ["1", "0"]],
    "pi_c": ["0", "1", "0"],
    "protocol": "groth16",
    "curve": "bn128",
}


def changed(document, path, value):
    document = copy.deepcopy(document)
    *inner, last = path
    target = document
    for key in inner:
        target = target[key]
    target[last] = value
    return document


def without(document, key):
    return {name: value for name, value in document.items() if name != key}


def test_proof_both_ways():
    proof = proof_from_json(PROOF)
    assert proof == Proof(BN254, (1, 2), ((3, 4), (5, 6)), None)
    assert proof_to_json(proof) == PROOF
    assert list(proof_to_json(proof)) == ["pi_a", "pi_b", "pi_c", "protocol", "curve"]


@pytest.mark.parametrize(("curve", "name"), [(BN254, "bn128"), (BLS12_381, "bls12381")])
def test_curves_are_called_as_snarkjs_calls_them(curve, name):
    document = proof_to_json(Proof(curve, curve.g1, curve.g2, None))
    assert document["curve"] == name
    assert proof_from_json(document).curve == curve


@pytest.mark.parametrize("name", ["bn128", "BN254", "altbn-128", "alt_bn128"])
def test_other_spellings_of_a_curve_are_read(name):
    assert proof_from_json(changed(PROOF, ["curve"], name)).curve == BN254


def test_proof_that_names_no_curve_takes_the_keys():
    assert proof_from_json(without(PROOF, "curve"), curve=BN254).curve == BN254
    with pytest.raises(FormatError, match="lacks 'curve'"):
        proof_from_json(without(PROOF, "curve"))


def test_proof_over_another_curve_than_the_key():
    with pytest.raises(FormatError, match="curve: the proof is over bn254, the key over bls12-381"):
        proof_from_json(PROOF, curve=BLS12_381)


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (["pi_a"], ["1", "2"], "pi_a"),
        (["pi_a"], "1", "pi_a"),
        (["pi_a", 0], "", "pi_a[0]"),
        (["pi_a", 0], "-1", "pi_a[0]"),
        (["pi_a", 0], "0x1", "pi_a[0]"),
        (["pi_a", 0], " 1", "pi_a[0]"),
        (["pi_a", 0], "01", "pi_a[0]"),
        (["pi_a", 0], "1\n", "pi_a[0]"),
        (["pi_a", 0], "\u0661", "pi_a[0]"),
        (["pi_a", 0], None, "pi_a[0]"),
        (["pi_a", 0], True, "pi_a[0]"),
        (["pi_a", 0], 1.0, "pi_a[0]"),
        (["pi_a", 0], "9" * 5000, "pi_a[0]"),
        (["pi_a", 1], str(BN254.q), "pi_a[1]"),
        (["pi_a", 2], "2", "pi_a[2]"),
        (["pi_b", 0], ["1"], "pi_b[0]"),
        (["pi_b", 0], "1", "pi_b[0]"),
        (["pi_b", 2], ["0", "1"], "pi_b[2]"),
        (["pi_b", 1, 1], str(BN254.q), "pi_b[1][1]"),
        (["protocol"], "plonk", "protocol"),
        (["protocol"], ["groth16"], "protocol"),
        (["curve"], "secp256k1", "curve"),
        (["curve"], None, "curve"),
    ],
)
def test_what_snarkjs_never_writes_is_refused_by_its_place(path, value, place):
    with pytest.raises(FormatError) as caught:
        proof_from_json(changed(PROOF, path, value), "proof.json")
    assert (caught.value.file, caught.value.place) == ("proof.json", place)


@pytest.mark.parametrize("document", [None, [], "proof", 5])
def test_proof_must_be_an_object(document):
    with pytest.raises(FormatError, match="document: must be an object"):
        proof_from_json(document)


@pytest.mark.parametrize("key", ["pi_a", "pi_b", "pi_c", "protocol"])
def test_missing_member_is_named(key):
    with pytest.raises(FormatError, match=f"lacks '{key}'"):
        proof_from_json(without(PROOF, key))


def test_public_signals_both_ways():
    values = [0, 1, BN254.r, 2**255]
    assert public_to_json(values) == [str(value) for value in values]
    assert public_from_json(public_to_json(values)) == values
    assert public_from_json([]) == []


@pytest.mark.parametrize("document", [{}, None, "1", [["1"]], ["1", "x"], [-1]])
def test_public_signals_are_a_flat_array_of_numbers(document):
    with pytest.raises(FormatError):
        public_from_json(document)


def test_verifying_key_both_ways(small_key, small_key_bls):
    for key in (small_key.verifying_key, small_key_bls.verifying_key):
        document = verifying_key_to_json(key)
        assert document["nPublic"] == 1
        assert verifying_key_from_json(json.loads(json.dumps(document))) == key


def test_verifying_key_counts_its_points(small_key):
    document = verifying_key_to_json(small_key.verifying_key)
    with pytest.raises(FormatError, match="IC: has 2 points for nPublic = 2"):
        verifying_key_from_json({**document, "nPublic": 2})
    with pytest.raises(FormatError, match="IC: has 0 points"):
        verifying_key_from_json({**document, "IC": []})


def test_file_is_read_as_it_was_written(tmp_path):
    write_json(tmp_path / "p.json", PROOF)
    assert (tmp_path / "p.json").read_text() == json.dumps(PROOF, indent=1)
    assert read_json(tmp_path / "p.json") == PROOF
    assert read_proof(tmp_path / "p.json") == proof_from_json(PROOF)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b'{"a": 1, "a": 2}', b"[" * 100_000])
def test_file_that_is_no_json_is_refused(tmp_path, content):
    (tmp_path / "p.json").write_bytes(content)
    with pytest.raises(FormatError):
        read_json(tmp_path / "p.json")


@pytest.mark.shared
def test_shipped_documents_are_written_as_they_are(shared_fixtures):
    kinds = {"proof": 0, "public": 0, "key": 0}
    for path in shared_fixtures.rglob("*.json"):
        if "filecoin" in str(path):
            continue
        document = json.loads(path.read_text())
        if path.name.endswith("public.json"):
            assert public_to_json(read_public(path)) == document, path
            kinds["public"] += 1
        elif isinstance(document, dict) and "pi_a" in document:
            assert proof_to_json(read_proof(path)) == document, path
            kinds["proof"] += 1
        elif isinstance(document, dict) and "vk_alpha_1" in document:
            written = verifying_key_to_json(read_verifying_key(path))
            alphabeta = written["vk_alphabeta_12"]
            assert document.setdefault("vk_alphabeta_12", alphabeta) == alphabeta, path
            assert written == document, path
            kinds["key"] += 1
    assert min(kinds.values()) > 15
