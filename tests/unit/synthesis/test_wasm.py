"""Witness generators of our own circuits, against Python's integers."""

import threading

import numpy as np
import pytest

from kernels.curves import BLS12_381, BN254
from proving.formats.r1cs import first_unsatisfied, read_r1cs
from proving.formats.words import to_integers
from proving.synthesis.errors import InputError, SynthesisError, SynthesisErrorKind
from proving.synthesis.inputs import flatten_inputs, parse_inputs
from proving.synthesis.wasm import WitnessGenerator

NAMES = ["multiplier", "silent", "asserting", "rows14", "rows15", "arrays", "bus", "endless"]


def run(generator, document):
    return to_integers(generator.generate(flatten_inputs(document, generator.curve.r)))


def refusal(generator, document):
    with pytest.raises(InputError) as caught:
        run(generator, document)
    return {problem.path: problem.reason for problem in caught.value.problems}


def failure(generator, document):
    with pytest.raises(SynthesisError) as caught:
        run(generator, document)
    return caught.value


@pytest.mark.parametrize("name", [*NAMES, "multiplier_bls12381", "arrays_bls12381"])
def test_witness_satisfies_the_compilers_constraints(fixtures, generator, name):
    made = generator(name)
    inputs = parse_inputs((fixtures / "inputs" / f"{name}.json").read_bytes(), made.curve.r)
    system = read_r1cs(fixtures / "compiled" / f"{name}.r1cs")
    assert made.curve == system.curve == (BLS12_381 if "bls" in name else BN254)
    witness = made.generate(inputs)
    assert witness.dtype == np.uint64
    assert witness.shape == (system.wires, 4)
    assert to_integers(witness[:1]) == [1]
    assert first_unsatisfied(system, witness) is None


def test_values_by_hand(generator):
    assert run(generator("multiplier"), {"a": 3, "b": 11}) == [1, 33, 3, 11]
    assert run(generator("multiplier"), {"b": -1, "a": "0x2"}) == [1, BN254.r - 2, 2, BN254.r - 1]
    assert run(generator("silent"), {"a": 6, "b": 7, "product": 42}) == [1, 6, 7, 42]
    assert run(generator("bus"), {"point": {"x": 3, "y": 4}, "points": [10, 4]})[1] == 31
    large = BN254.r - 5
    assert run(generator("multiplier"), {"a": large, "b": large})[1] == 25


@pytest.mark.parametrize("name", ["arrays", "arrays_bls12381"])
def test_arrays_are_laid_out_row_by_row(generator, name):
    prime = generator(name).curve.r
    document = {"scale": 5, "vector": [1, -2], "matrix": [[1, 2, 3], ["0x4", 5, 6]]}
    expected = [5 * (1 * top - 2 * bottom) % prime for top, bottom in ((1, 4), (2, 5), (3, 6))]
    assert run(generator(name), document)[1:5] == [*expected, 5]


def test_assertion_is_told_in_the_circuits_words(generator):
    error = failure(generator("asserting"), {"value": 10})
    assert error.kind == SynthesisErrorKind.ASSERTION
    assert "assertion failed: Error in template SmallValue_0 line: 8" in error.message
    assert "Error in template Asserting_" in error.message


def test_broken_constraint_is_told_too(generator):
    error = failure(generator("asserting"), {"value": 7})
    assert error.kind == SynthesisErrorKind.ASSERTION
    assert "NotSeven_1 line: 18" in error.message


def test_log_lines_go_to_whoever_asks(generator):
    lines = []
    generator("asserting").generate({"value": [9]}, lines.append)
    assert lines == ["value 9"]


def test_every_misfit_is_named(generator):
    found = refusal(generator("arrays"), {"scale": 1, "vector": [1, 2, 3], "matrix": [1], "other": 3})
    assert found == {
        "vector": "has 3 values, the circuit takes 2",
        "matrix": "has 1 values, the circuit takes 6",
        "other": "is no input signal of the circuit",
    }


def test_too_many_for_one_and_none_for_another(generator):
    found = refusal(generator("multiplier"), {"b": [1, 2]})
    assert found.pop("b") == "has 2 values, the circuit takes 1"
    assert found.pop("inputs").startswith("not all inputs set: the circuit takes 2 values, 1 of them for")
    assert not found


@pytest.mark.parametrize(
    ("document", "given"),
    [({}, "9 of them for signals that are missing (given: none)"), ({"scale": 1}, "8 of them")],
)
def test_missing_signals(generator, document, given):
    assert given in refusal(generator("arrays"), document)["inputs"]
    with pytest.raises(InputError, match="not all inputs set: the circuit takes 9 values"):
        generator("arrays").check(flatten_inputs(document, BN254.r))


def test_outputs_are_no_inputs(generator):
    assert "product" in refusal(generator("multiplier"), {"a": 1, "b": 1, "product": 1})


def test_checking_runs_nothing(generator):
    generator("asserting").check({"value": [10]})
    generator("endless").check({"value": [1]})


def test_calls_at_the_same_time_do_not_meet(generator):
    made = generator("rows15")
    results = {}
    barrier = threading.Barrier(8)

    def work(start):
        barrier.wait()
        results[start] = [run(made, {"start": start})[1] for _ in range(5)]

    threads = [threading.Thread(target=work, args=(start,)) for start in range(2, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {start: [pow(start, 2**15, BN254.r)] * 5 for start in range(2, 10)}


def test_a_failed_call_leaves_nothing_behind(generator):
    made = generator("asserting")
    failure(made, {"value": 10})
    assert run(made, {"value": 3})[1] == 9


def test_no_file_is_an_oserror(tmp_path, module_cache):
    with pytest.raises(FileNotFoundError):
        WitnessGenerator(tmp_path / "nothing.wasm", cache_dir=module_cache)


SETS = [
    "circom-compat/mycircuit.wasm",
    "circom_runtime/circuit.wasm",
    "darkforest-whitelist/whitelist.wasm",
    "mopro/multiplier2.wasm",
]
SLOW_SETS = ["poseidon-3/poseidon-3.wasm", "semaphore-10/semaphore-10.wasm"]


@pytest.mark.shared
@pytest.mark.parametrize("path", SETS + SLOW_SETS)
def test_shipped_generators_make_the_golden_witness(shared_fixtures, module_cache, path):
    wasm = shared_fixtures / path
    golden = wasm.parent / "golden"
    made = WitnessGenerator(wasm, cache_dir=module_cache)
    witness = made.generate(parse_inputs((golden / "input.json").read_bytes(), made.curve.r))
    assert (golden / "witness.wtns").read_bytes().endswith(witness.tobytes())


@pytest.mark.shared
@pytest.mark.parametrize("name", ["merkle20", "bls_merkle20"])
def test_shipped_generators_on_both_curves(shared_fixtures, module_cache, name):
    folder = shared_fixtures / name
    made = WitnessGenerator(folder / f"{name}.wasm", cache_dir=module_cache)
    witness = made.generate(parse_inputs((folder / "input.json").read_bytes(), made.curve.r))
    assert (folder / f"{name}.wtns").read_bytes().endswith(witness.tobytes())


@pytest.mark.shared
@pytest.mark.parametrize("number", [2, 3])
def test_negative_values_written_as_large_ones(shared_fixtures, module_cache, number):
    folder = shared_fixtures / "circom-compat"
    made = WitnessGenerator(folder / "mycircuit.wasm", cache_dir=module_cache)
    document = (folder / f"mycircuit-input{number}.json").read_bytes()
    a, b = parse_inputs(document, BN254.r).values()
    assert to_integers(made.generate(parse_inputs(document, BN254.r)))[1] == a[0] * b[0] % BN254.r
