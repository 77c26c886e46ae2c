"""Generators that older compilers made."""

import pytest

from kernels.curves import BN254
from proving.formats.words import to_integers
from proving.synthesis.circom1 import Circom1
from proving.synthesis.circom2_early import EarlyCircom2
from proving.synthesis.errors import InputError, SynthesisError, SynthesisErrorKind
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


GENERATIONS = {"no sizes": set(), "neither sizes nor count": {"getInputSize"}}


@pytest.fixture(params=GENERATIONS)
def early(request, fixtures, tmp_path, module_cache):
    """Opens what circom 2.0.3 compiled."""

    def open_generator(name):
        path = tmp_path / f"{name}.wasm"
        content = (fixtures / "compiled" / path.name).read_bytes()
        path.write_bytes(hide_exports(content, GENERATIONS[request.param]))
        made = WitnessGenerator(path, cache_dir=module_cache)
        assert made.generation is EarlyCircom2
        return made

    return open_generator


@pytest.fixture
def arrays(early):
    return early("early_arrays")


GOOD = {"scale": 5, "vector": [1, 2], "matrix": [[1, 2, 3], [4, 5, 6]]}


def refusal(made, document):
    with pytest.raises(InputError) as caught:
        made.check(flatten_inputs(document, BN254.r))
    return {problem.path: problem.reason for problem in caught.value.problems}


def test_early_generator_makes_the_witness(arrays, generator):
    inputs = flatten_inputs(GOOD, BN254.r)
    assert (arrays.generate(inputs) == generator("arrays").generate(inputs)).all()


def test_early_generator_lets_no_signal_run_into_the_next(arrays):
    found = refusal(arrays, {"scale": 5, "vector": [1, 2, 3], "matrix": [2, 3, 4, 5, 6]})
    assert found == {
        "vector": "has 3 values, the circuit takes 2",
        "matrix": "has 5 values, the circuit takes 6",
    }


@pytest.mark.parametrize(
    ("changed", "given", "wanted"),
    [
        ("scale", 2, 1),
        ("scale", 0, 1),
        ("vector", 1, 2),
        ("vector", 3, 2),
        ("matrix", 5, 6),
        ("matrix", 7, 6),
    ],
)
def test_early_generator_counts_the_values_of_every_signal_at_the_door(arrays, changed, given, wanted):
    assert refusal(arrays, {**GOOD, changed: list(range(given))}) == {
        changed: f"has {given} values, the circuit takes {wanted}"
    }


def test_early_generator_is_not_misled_by_a_sum_that_is_right(arrays):
    too_long = {"scale": 5, "matrix": list(range(8))}  # nine values in all, as the circuit takes
    assert refusal(arrays, too_long) == {
        "matrix": "has 8 values, the circuit takes 6",
        "inputs": "not all inputs set: the circuit takes 9 values, 2 of them for signals that are missing "
        "(given: scale, matrix)",
    }


@pytest.mark.parametrize("document", [{}, {"scale": 5}, {"scale": 5, "matrix": [1, 2, 3, 4, 5, 6]}])
def test_early_generator_misses_what_is_not_given(arrays, document):
    assert "not all inputs set: the circuit takes 9 values" in refusal(arrays, document)["inputs"]


def test_early_generator_knows_its_signals(arrays):
    assert refusal(arrays, {**GOOD, "other": 1}) == {"other": "is no input signal of the circuit"}


@pytest.mark.parametrize("name", ["early_square", "early_small"])
def test_early_generator_of_a_single_value(early, name):
    made = early(name)
    assert to_integers(made.generate({"side": [9]})) == [1, 81, 9]
    assert refusal(made, {"side": [1, 2]}) == {"side": "has 2 values, the circuit takes 1"}
    assert "the circuit takes 1 values, 1 of them for signals that are missing" in refusal(made, {})["inputs"]


def test_early_generator_still_tells_its_assertions(early):
    with pytest.raises(SynthesisError, match="assertion failed"):
        early("early_small").generate({"side": [100]})


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


class TestCircom1:
    """Arrays, a log line and an assertion, as the last compiler of circom 1 made them."""

    GOOD = ({"values": [[1, 2], [3, 4], [5, 6]], "weight": "7"}, [1, 714, 7, 1, 2, 3, 4, 5, 6, 49])

    @pytest.fixture
    def sums(self, generator):
        made = generator("circom1_arrays")
        assert made.generation is Circom1
        return made

    @pytest.mark.parametrize("values", [[[1, 2], [3, 4], [5, 6]], [1, 2, 3, 4, 5, 6]])
    def test_arrays_nested_or_flat(self, sums, values):
        document, witness = self.GOOD
        lines = []
        found = sums.generate(flatten_inputs({**document, "values": values}, BN254.r), lines.append)
        assert to_integers(found) == witness
        assert lines == ["102"]

    def test_the_witness_satisfies_the_constraints(self, sums, fixtures):
        from proving.formats.r1cs import first_unsatisfied, read_r1cs

        system = read_r1cs(fixtures / "compiled" / "circom1_arrays.r1cs")
        assert first_unsatisfied(system, sums.generate(flatten_inputs(self.GOOD[0], BN254.r))) is None

    def test_an_assertion_says_where_and_the_log_comes_with_it(self, sums):
        lines = []
        bad = flatten_inputs({"values": [0, 1, 0, 5, 0, 7], "weight": "2"}, BN254.r)
        with pytest.raises(SynthesisError) as caught:
            sums.generate(bad, lines.append)
        assert caught.value.kind is SynthesisErrorKind.ASSERTION
        assert "circom1_arrays.circom:12" in caught.value.message
        assert lines == ["13"]

    @pytest.mark.parametrize(
        ("changed", "path", "reason"),
        [
            ({"values": [1] * 5}, "values", "has 5 values, the circuit takes 6"),
            ({"values": [1] * 7}, "values", "has 7 values, the circuit takes 6"),
            ({"weight": [1, 2]}, "weight", "has 2 values, the circuit takes 1"),
            ({"total": 1}, "total", "is no input signal"),
            ({"square": 1}, "square", "is no input signal"),
        ],
    )
    def test_wrong_inputs_are_refused_at_the_door(self, sums, changed, path, reason):
        with pytest.raises(InputError) as caught:
            sums.check(flatten_inputs({**self.GOOD[0], **changed}, BN254.r))
        assert {problem.path: problem.reason.startswith(reason) for problem in caught.value.problems}[path]
