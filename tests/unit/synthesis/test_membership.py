"""The demo's circuit and its maker of inputs."""

import pytest

from cuzkweb.demo import membership
from cuzkweb.demo.membership import example_inputs, nullifier, root, secret_of
from kernels.curves import BN254
from proving.formats.r1cs import first_unsatisfied, read_r1cs
from proving.formats.words import to_integers
from proving.synthesis.errors import SynthesisError, SynthesisErrorKind
from proving.synthesis.inputs import flatten_inputs
from proving.synthesis.wasm import WitnessGenerator


@pytest.fixture(scope="module")
def demo(module_cache):
    return WitnessGenerator(membership.GENERATOR, cache_dir=module_cache)


@pytest.mark.parametrize("index", [0, 1, 5, 63, 64, 1000])
def test_example_inputs_satisfy_the_circuit(demo, index):
    witness = demo.generate(flatten_inputs(example_inputs(index), BN254.r))
    scope, member = divmod(index, membership.MEMBERS)
    assert to_integers(witness[1:4]) == [nullifier(secret_of(member), scope), root(), scope]
    assert first_unsatisfied(read_r1cs(membership.CONSTRAINTS), witness) is None


def test_circuit_is_of_a_size_to_be_shown():
    system = read_r1cs(membership.CONSTRAINTS)
    assert 3000 < system.constraints + system.public_count + 1 <= 4096
    assert (system.outputs, system.public_inputs) == (1, 2)


def test_other_members_and_other_scopes_have_other_nullifiers():
    marks = {nullifier(secret_of(member), scope) for member in range(10) for scope in range(3)}
    assert len(marks) == 30


@pytest.mark.parametrize("change", ["siblings", "secret", "root"])
def test_wrong_path_fails_in_words(demo, change):
    inputs = example_inputs(3)
    if change == "siblings":
        inputs["siblings"][4] = "5"
    else:
        inputs[change] = "5"
    with pytest.raises(
        SynthesisError, match="assertion failed: Error in template PathLeadsToRoot_"
    ) as caught:
        demo.generate(flatten_inputs(inputs, BN254.r))
    assert caught.value.kind == SynthesisErrorKind.ASSERTION


def test_sides_are_bits(demo):
    inputs = example_inputs(3)
    inputs["sides"][9] = "2"
    with pytest.raises(SynthesisError, match="Error in template Parent_"):
        demo.generate(flatten_inputs(inputs, BN254.r))
