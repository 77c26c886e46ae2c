"""Generators that older compilers made."""

import pytest

from kernels.curves import BN254
from proving.formats.words import to_integers
from proving.synthesis.circom1 import Circom1
from proving.synthesis.circom2_early import EarlyCircom2
from proving.synthesis.errors import InputError, SynthesisError
from proving.synthesis.inputs import flatten_inputs
from proving.synthesis.wasm import WitnessGenerator

EXPORT_SECTION = 7


def leb128(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def read_leb128(content: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return value, position


def hide_exports(content: bytes, hidden: set[str]) -> bytes:
    """The same module without some exports, as an older compiler would have written it."""
    out, position = bytearray(content[:8]), 8
    while position < len(content):
        number = content[position]
        size, start = read_leb128(content, position + 1)
        position = start + size
        body = content[start:position]
        if number == EXPORT_SECTION:
            body = keep_exports(body, hidden)
        out += bytes([number]) + leb128(len(body)) + body
    return bytes(out)


def keep_exports(body: bytes, hidden: set[str]) -> bytes:
    count, position = read_leb128(body, 0)
    kept = []
    for _ in range(count):
        start = position
        size, position = read_leb128(body, position)
        name = body[position : position + size].decode()
        _, position = read_leb128(body, position + size + 1)
        if name not in hidden:
            kept.append(body[start:position])
    return leb128(len(kept)) + b"".join(kept)


GENERATIONS = {
    "no sizes": {"getInputSignalSize", "getMinorVersion", "getPatchVersion"},
    "neither sizes nor count": {"getInputSignalSize", "getInputSize", "getMinorVersion", "getPatchVersion"},
}


@pytest.fixture(params=GENERATIONS)
def arrays(request, fixtures, tmp_path, module_cache):
    content = (fixtures / "compiled" / "arrays.wasm").read_bytes()
    path = tmp_path / "early.wasm"
    path.write_bytes(hide_exports(content, GENERATIONS[request.param]))
    made = WitnessGenerator(path, cache_dir=module_cache)
    assert made.generation is EarlyCircom2
    return made


GOOD = {"scale": 5, "vector": [1, 2], "matrix": [[1, 2, 3], [4, 5, 6]]}


def refusal(made, document):
    with pytest.raises(InputError) as caught:
        made.generate(flatten_inputs(document, BN254.r))
    return {problem.path: problem.reason for problem in caught.value.problems}


def test_early_generator_makes_the_witness(arrays, generator):
    inputs = flatten_inputs(GOOD, BN254.r)
    assert (arrays.generate(inputs) == generator("arrays").generate(inputs)).all()


def test_early_generator_lets_no_signal_run_into_the_next(arrays):
    found = refusal(arrays, {"scale": 5, "vector": [1, 2, 3], "matrix": [2, 3, 4, 5, 6]})
    assert found == {"vector": "has 3 values, the circuit takes 2"}


def test_early_generator_takes_no_more_than_there_is(arrays):
    assert list(refusal(arrays, {**GOOD, "matrix": [1, 2, 3, 4, 5, 6, 7]})) == ["matrix"]


@pytest.mark.parametrize("document", [{}, {"scale": 5}, {**GOOD, "matrix": [1, 2, 3, 4, 5]}])
def test_early_generator_misses_what_is_not_given(arrays, document):
    assert "not all inputs set" in refusal(arrays, document)["inputs"]


def test_early_generator_knows_its_signals(arrays):
    assert refusal(arrays, {**GOOD, "other": 1}) == {"other": "is no input signal of the circuit"}


@pytest.fixture
def whitelist(shared_fixtures, module_cache):
    made = WitnessGenerator(
        shared_fixtures / "darkforest-whitelist" / "whitelist.wasm", cache_dir=module_cache
    )
    assert made.generation is Circom1
    return made


@pytest.mark.shared
@pytest.mark.parametrize("document", [{}, {"key": 1}])
def test_circom_1_misses_what_is_not_given(whitelist, document):
    assert "not all inputs set: the circuit takes 2 values" in refusal(whitelist, document)["inputs"]


@pytest.mark.shared
def test_circom_1_knows_its_signals(whitelist):
    assert refusal(whitelist, {"key": [1, 2], "recipient": 1, "hash": 1, "nothing": 1}) == {
        "key": "has 2 values, the circuit takes 1",
        "hash": "is no input signal of the circuit",
        "nothing": "is no input signal of the circuit",
    }


@pytest.mark.shared
@pytest.mark.parametrize("value", ["-1", str(BN254.r - 1)])
def test_circom_1_counts_negative_values_from_r(whitelist, value):
    witness = to_integers(whitelist.generate(flatten_inputs({"key": value, "recipient": 5}, BN254.r)))
    assert witness[2] == 5
    assert BN254.r - 1 in witness


@pytest.mark.parametrize(
    "hidden", ["getWitness", "setInputSignal", "readSharedRWMemory", "getWitnessSize", "init"]
)
def test_module_that_lacks_a_function_is_refused(fixtures, tmp_path, module_cache, hidden):
    path = tmp_path / "broken.wasm"
    path.write_bytes(hide_exports((fixtures / "compiled" / "silent.wasm").read_bytes(), {hidden}))
    with pytest.raises(SynthesisError, match=r"not a witness generator|lacks"):
        WitnessGenerator(path, cache_dir=module_cache).generate({"a": [1], "b": [1], "product": [1]})
