"""Every reader of files, as a fuzzer calls it: one byte that chooses the reader, then the file.

A reader takes a file, or refuses it with a typed error that names file, place and reason; nothing else.
"""

import tempfile
from pathlib import Path

from kernels.curves import BLS12_381, BN254
from proving.formats.bellman import read_parameters, validate_queries
from proving.formats.digests import read_expected
from proving.formats.errors import FormatError
from proving.formats.exact_json import JsonError, parse_json
from proving.formats.inspect import describe
from proving.formats.r1cs import read_r1cs
from proving.formats.recognise import key_from_content, proof_readings, read_any_key
from proving.formats.snarkjs import read_proof, read_publics, read_verifying_key
from proving.formats.wasm_module import read_names
from proving.formats.wtns import read_witness
from proving.formats.zkey import read_contributions, read_zkey, validate_points
from proving.synthesis.errors import InputError
from proving.synthesis.inputs import parse_inputs

FILE = Path(tempfile.mkdtemp()) / "input"


def content() -> bytes:
    """The present file."""
    return FILE.read_bytes()


def whole_zkey() -> None:
    validate_points(read_zkey(FILE), threads=1)
    read_contributions(FILE)


def whole_parameters() -> None:
    validate_queries(read_parameters(FILE), threads=1)


READERS = (
    whole_zkey,
    lambda: read_witness(FILE),
    lambda: read_r1cs(FILE),
    whole_parameters,
    lambda: read_proof(FILE),
    lambda: read_verifying_key(FILE),
    lambda: read_publics(FILE),
    lambda: read_any_key(FILE),
    lambda: key_from_content(content()),
    lambda: proof_readings(content(), BN254),
    lambda: proof_readings(content(), BLS12_381),
    lambda: read_names(str(FILE), content()),
    lambda: parse_json(content()),
    lambda: parse_inputs(content(), BN254.r),
    lambda: read_expected(FILE, "name"),
    lambda: describe(FILE),
)


def require_place(error: FormatError) -> None:
    """A refusal names the file, the place and the reason."""
    assert error.file
    assert error.place
    assert error.reason


def read_one_input(data: bytes) -> None:
    """Give one file to one reader."""
    if not data:
        return
    FILE.write_bytes(data[1:])
    try:
        READERS[data[0] % len(READERS)]()
    except FormatError as error:
        require_place(error)
    except (JsonError, InputError):
        pass
