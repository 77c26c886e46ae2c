"""Contents with one byte changed: a few at random on every run of the tests, every byte with `make fuzz`."""

import os
import random
from collections.abc import Iterator

EVERY_BYTE = "CUZKWEB_EVERY_BYTE" in os.environ
LOWEST, HIGHEST = 0x01, 0x80


def changed(content: bytes, sample: int) -> Iterator[bytes]:
    """`sample` random changes; of every byte its lowest and its highest bit where all are asked for."""
    if EVERY_BYTE:
        places = [(place, bit) for place in range(len(content)) for bit in (LOWEST, HIGHEST)]
    else:
        places = [(random.randrange(len(content)), random.randint(1, 255)) for _ in range(sample)]
    for place, bits in places:
        yield content[:place] + bytes([content[place] ^ bits]) + content[place + 1 :]
