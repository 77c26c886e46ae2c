"""Seeds for fuzz_parsers.py: one small good file for each reader.

python -m tests.fuzz.make_corpus FOLDER
"""

import json
import sys
from pathlib import Path

from proving.formats.bellman_key import encode_parameters
from proving.formats.calldata import proof_to_calldata
from proving.formats.coats import Coat, FullVerifyingKey, proof_to_bytes, verifying_key_to_bytes
from proving.formats.r1cs import encode_r1cs, read_r1cs
from proving.formats.snarkjs import proof_to_json, verifying_key_to_json
from proving.formats.words import to_words
from proving.formats.wtns import Witness, encode_witness
from proving.formats.zkey import encode_zkey
from proving.groth16.objects import Proof
from proving.groth16.qap import RowOrder
from proving.groth16.setup import setup
from tests.conftest import REPOSITORY

COMPILED = REPOSITORY / "tests" / "fixtures" / "compiled"


def seeds() -> dict[int, list[bytes]]:
    """Good files by the number of the reader that takes them."""
    system, system_bls = (read_r1cs(COMPILED / f"multiplier{curve}.r1cs") for curve in ("", "_bls12381"))
    key, parameters = setup(system), setup(system_bls, order=RowOrder.BELLMAN)
    full = FullVerifyingKey(key.verifying_key, key.beta_g1, key.delta_g1)
    full_bls = FullVerifyingKey(parameters.verifying_key, parameters.beta_g1, parameters.delta_g1)
    proof, proof_bls = (Proof(curve, curve.g1, curve.g2, None) for curve in (key.curve, parameters.curve))
    keys = [verifying_key_to_bytes(full, coat) for coat in (Coat.ARKWORKS, Coat.GNARK, Coat.GNARK_RAW)]
    keys += [verifying_key_to_bytes(full_bls, coat) for coat in (Coat.BELLMAN, Coat.ARKWORKS, Coat.WAVES)]
    proofs = [proof_to_bytes(proof, coat) for coat in (Coat.ARKWORKS, Coat.ARKWORKS_UNCOMPRESSED, Coat.GNARK)]
    proofs.append(proof_to_calldata(proof, [33]).encode())
    proofs_bls = [proof_to_bytes(proof_bls, coat) for coat in (Coat.BELLMAN, Coat.GNARK, Coat.GNARK_RAW)]
    zkey, params = b"".join(encode_zkey(key)), b"".join(encode_parameters(parameters))
    vkey = json.dumps(verifying_key_to_json(key.verifying_key)).encode()
    return {
        0: [zkey],
        1: [b"".join(encode_witness(Witness(key.curve, to_words([1, 33, 3, 11]))))],
        2: [b"".join(encode_r1cs(system)), (COMPILED / "arrays.r1cs").read_bytes()],
        3: [params],
        4: [json.dumps(proof_to_json(proof)).encode()],
        5: [vkey],
        6: [b'["33","0"]', b'[["1"],["2"]]'],
        7: [zkey, params, vkey],
        8: keys,
        9: proofs,
        10: [*proofs_bls, 2 * proofs_bls[0]],
        11: [(COMPILED / "silent.wasm").read_bytes()[:3000]],
        12: [b'{"a":[1,"0x2",{"b":null}]}'],
        13: [b'{"a":[["1","-2"],["0x3",4]],"b":"5"}'],
        14: [b'{"name":{"digest":"00112233445566778899aabbccddeeff"}}'],
        15: [zkey, params, *keys[:2], *proofs[:1]],
    }


def main(folder: Path) -> None:
    """Write every seed with its reader's number before it."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, contents in seeds().items():
        for index, content in enumerate(contents):
            (folder / f"{number:02}-{index}").write_bytes(bytes([number]) + content)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
