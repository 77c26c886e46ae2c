"""FNV-1a, against its published test vectors."""

import pytest

from proving.synthesis.names import hash_signal, split_hash


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("", 0xCBF29CE484222325),
        ("a", 0xAF63DC4C8601EC8C),
        ("b", 0xAF63DF4C8601F1A5),
        ("foobar", 0x85944171F73967E8),
    ],
)
def test_published_vectors(name, value):
    assert hash_signal(name) == value
    high, low = split_hash(name)
    assert (high % 2**32 << 32) + low % 2**32 == value
    assert -(2**31) <= high < 2**31
    assert -(2**31) <= low < 2**31
