"""Contents with one byte changed: a few at random on every run of the tests, every byte with `make fuzz`."""

import os
import random
from collections.abc import Iterator

BITS = (0x01, 0x80)[: int(os.environ.get("CUZKWEB_EVERY_BYTE", "0"))]
"""The bits that are flipped in every byte: none, the lowest, or the lowest and the highest."""

EVERY_BYTE = bool(BITS)


def changed(content: bytes, sample: int) -> Iterator[bytes]:
    """`sample` random changes, or every byte with each of BITS flipped where there are any."""
    places = [(place, bit) for place in range(len(content)) for bit in BITS]
    if not EVERY_BYTE:
        places = [(random.randrange(len(content)), random.randint(1, 255)) for _ in range(sample)]
    for place, bits in places:
        yield content[:place] + bytes([content[place] ^ bits]) + content[place + 1 :]
