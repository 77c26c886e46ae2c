"""JSON without loss."""

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proving.formats.exact_json import JsonError, Unusable, parse_json

documents = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**100), 10**100) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=10,
)


@given(documents)
def test_everything_exact_is_read_as_python_reads_it(document):
    assert parse_json(json.dumps(document)) == document
    assert parse_json(json.dumps(document).encode()) == document


@pytest.mark.parametrize("text", ["1.0", "1e3", "-0.5", "NaN", "Infinity", "-Infinity", "9" * 201])
def test_what_is_not_exact_is_marked(text):
    assert isinstance(parse_json(f'{{"a": [{text}]}}')["a"][0], Unusable)


def test_long_but_possible_numbers_are_exact():
    assert parse_json("9" * 200) == int("9" * 200)


def test_key_that_comes_twice_is_named():
    with pytest.raises(JsonError, match="'a': appears twice"):
        parse_json('{"b": {"a": 1, "a": 1}}')


@pytest.mark.parametrize(
    ("text", "place"), [("", "line 1, column 1"), ('{\n "a": x}', "line 2, column 7"), (b"\xff", "byte 0")]
)
def test_place_of_what_is_no_json(text, place):
    with pytest.raises(JsonError) as caught:
        parse_json(text)
    assert caught.value.place == place


def test_byte_order_mark_is_skipped():
    assert parse_json(b"\xef\xbb\xbf[1]") == [1]


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000])
def test_absurd_nesting_is_refused(text):
    with pytest.raises(JsonError):
        parse_json(text)


def test_depth_is_bounded_whatever_the_interpreter_would_bear():
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(10**6)
        with pytest.raises(JsonError, match="too deeply"):
            parse_json("[" * 10**6)
    finally:
        sys.setrecursionlimit(limit)


def test_brackets_in_strings_nest_nothing():
    document = {"[" * 300: ["{[" * 300 + '\\"[' * 300] * 200}
    assert parse_json(json.dumps(document)) == document
    wide = [[1, [2]]] * 500
    assert parse_json(json.dumps(wide)) == wide
