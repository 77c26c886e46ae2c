"""Integers as words, against Python's own integers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernels.curves import BLS12_381, BN254
from proving.formats.words import first_not_below, to_integers, to_words

MODULUS = BN254.r
NEAR = [
    MODULUS - 1,
    MODULUS,
    MODULUS + 1,
    MODULUS ^ 1,
    MODULUS + 2**64,
    MODULUS - 2**64,
    MODULUS - 2**192,
    2**256 - 1,
]
values = st.one_of(st.integers(0, 2**256 - 1), st.sampled_from([0, 1, *NEAR]))


@given(st.lists(values, max_size=20))
def test_words_and_back(numbers):
    words = to_words(numbers)
    assert words.shape == (len(numbers), 4)
    assert to_integers(words) == numbers
    assert all(words[row, 0] == number % 2**64 for row, number in enumerate(numbers))


@given(st.lists(values, max_size=20))
def test_first_not_below_is_the_first_that_python_finds(numbers):
    expected = next((index for index, number in enumerate(numbers) if number >= MODULUS), None)
    assert first_not_below(to_words(numbers), MODULUS) == expected


@given(st.integers(0, 200), st.sampled_from(NEAR))
def test_first_not_below_among_many(place, value):
    words = to_words([MODULUS - 1] * 201)
    words[place] = to_words([value])[0]
    assert first_not_below(words, MODULUS) == (place if value >= MODULUS else None)


def test_six_words():
    words = to_words([BLS12_381.q - 1, BLS12_381.q], 6)
    assert first_not_below(words, BLS12_381.q) == 1


def test_unaligned_views():
    raw = np.frombuffer(b"\0" * 4 + to_words([5, MODULUS]).tobytes(), dtype=np.uint8)
    words = raw[4:].view("<u8").reshape(2, 4)
    assert to_integers(words) == [5, MODULUS]
    assert first_not_below(words, MODULUS) == 1
