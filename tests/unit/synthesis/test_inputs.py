"""Inputs: exact or refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.curves import BN254
from proving.synthesis.errors import InputError
from proving.synthesis.inputs import flatten_inputs, parse_inputs

R = BN254.r


def parsed(text):
    return parse_inputs(text, R)


def problems(text):
    with pytest.raises(InputError) as caught:
        parse_inputs(text, R)
    return [(problem.path, problem.reason) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("0", 0),
        ('"0"', 0),
        ("500000000000007004", 500000000000007004),  # past 2^53: floats would round it
        (str(R - 1), R - 1),
        (f'"{R - 1}"', R - 1),
        ("-1", R - 1),
        ('"-1"', R - 1),
        (f'"-{R - 1}"', 1),
        ('"-0"', 0),
        ('"0x42"', 66),
        ('"0XfF"', 255),
        ('"-0x2"', R - 2),
        ('"007"', 7),
    ],
)
def test_numbers_are_exact(literal, value):
    assert parsed(f'{{"a": {literal}}}') == {"a": [value]}


@given(st.integers(-R + 1, R - 1))
def test_any_element_however_it_is_written(value):
    for text in (str(value), f'"{value}"', f'"{value:#x}"'):
        assert parsed(f'{{"a": {text}}}') == {"a": [value % R]}


@pytest.mark.parametrize(
    ("literal", "reason"),
    [
        ("1.0", "1.0 is not an integer"),
        ("1e3", "1e3 is not an integer"),
        ("NaN", "NaN is not an integer"),
        ("null", "is null"),
        ("true", "is a boolean"),
        ("false", "is a boolean"),
        ('""', "is an empty string"),
        ('" 1"', "is not a decimal or 0x number"),
        ('"1 "', "is not a decimal or 0x number"),
        ('"1\\n"', "is not a decimal or 0x number"),
        ('"+1"', "is not a decimal or 0x number"),
        ('"1.5"', "is not a decimal or 0x number"),
        ('"1e5"', "is not a decimal or 0x number"),
        ('"0x"', "is not a decimal or 0x number"),
        ('"--1"', "is not a decimal or 0x number"),
        ('"1_000"', "is not a decimal or 0x number"),
        ('"\\u0661"', "is not a decimal or 0x number"),
        ('"abc"', "is not a decimal or 0x number"),
        (str(R), "is not below the modulus"),
        (f'"{R}"', "is not below the modulus"),
        (f'"-{R}"', "is not below the modulus"),
        ("9" * 201, "a number of 201 digits"),
        ("9" * 5000, "a number of 5000 digits"),
        ('"' + "9" * 201 + '"', "is a string of 201 characters"),
    ],
)
def test_everything_else_is_refused_with_its_path(literal, reason):
    [(path, said)] = problems(f'{{"a": [1, [2, {literal}]]}}')
    assert path == "a[1][1]"
    assert reason in said


def test_values_are_never_repeated_in_an_error():
    secret = "123456789012345678901234567890"
    for literal in (f'"{secret}x"', f'"{R + int(secret)}"', str(R + int(secret))):
        assert secret[:12] not in str(problems(f'{{"a": {literal}}}'))


def test_arrays_are_flattened_row_by_row():
    assert parsed('{"m": [[1, 2], ["3", [4, 5]]], "e": []}') == {"m": [1, 2, 3, 4, 5], "e": []}


@pytest.mark.parametrize("key", ["in[0]", "in[0][1]", "in[]"])
def test_one_key_an_element_is_refused_with_advice(key):
    [(path, reason)] = problems(json.dumps({key: "1"}))
    assert path == key
    assert '"in": [...]' in reason


def test_key_that_comes_twice():
    assert problems('{"a": 1, "a": 2}') == [("'a'", "appears twice in one object")]


def test_all_problems_are_named_up_to_twenty():
    found = problems(json.dumps({"a": [None, 1, ""], "b": 1.5, "c": True}))
    assert [path for path, _ in found] == ["a[0]", "a[2]", "b", "c"]
    assert len(problems(json.dumps({"a": [None] * 100}))) == 20


@pytest.mark.parametrize("text", ["[]", "1", '"a"', "null", "[{}]"])
def test_inputs_must_be_an_object(text):
    [(path, _)] = problems(text)
    assert path == "inputs"


@pytest.mark.parametrize("depth", [40, 900, 100_000])
def test_deep_nesting_is_refused(depth):
    assert problems('{"a": ' + "[" * depth + "1" + "]" * depth + "}")
    assert problems('{"a": ' * depth + "1" + "}" * depth)


@pytest.mark.parametrize("name", ["", "x" * 201])
def test_names_that_are_none(name):
    assert problems(json.dumps({name: 1}))


def test_buses_become_signals():
    document = {"p": {"x": 1, "y": [2, 3]}, "q": [{"x": 4}, {"x": 5}], "r": [[{"x": 6}]]}
    assert flatten_inputs(document, R) == {
        "p.x": [1],
        "p.y": [2, 3],
        "q[0].x": [4],
        "q[1].x": [5],
        "r[0][0].x": [6],
    }


def test_bus_and_plain_key_may_not_say_the_same_signal():
    assert problems('{"p": {"x": 1}, "p.x": 2}') == [("p.x", "is given twice")]


def test_number_among_buses_is_named():
    assert problems('{"q": [{"x": 1}, null]}') == [
        ("q[1]", "must be an integer or a decimal string, is null")
    ]


def test_floats_of_other_parsers_are_refused():
    with pytest.raises(InputError, match="a: must be an integer or a decimal string, is a fraction"):
        flatten_inputs({"a": 1.0}, R)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    )
)
def test_any_document_is_flattened_or_refused(document):
    try:
        signals = parse_inputs(json.dumps(document), R)
    except InputError:
        return
    assert all(0 <= value < R for values in signals.values() for value in values)
