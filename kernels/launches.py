"""One kernel launch of the device, as data.

`kernels.polynomial_launches` and `kernels.sum_launches` say which launches an operation takes: pure functions
from device addresses to launches, without CUDA, so that the driver, the stand-in for it and the tests run the
same ones. All launches of one operation belong on one stream, in order.
"""

from dataclasses import dataclass

from kernels.modules import Module

NO_ADDRESS = 0


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch; the arguments are addresses and numbers, typed by the module's table."""

    module: Module
    kernel: str
    grid: tuple[int, int, int]
    block: int
    shared_bytes: int
    arguments: tuple[int, ...]


def launch(
    module: Module, kernel: str, blocks: int | tuple[int, int], *arguments: int, shared_bytes: int = 0
) -> Launch:
    """A launch with the block size of the table; `blocks` is x or (x, y)."""
    x, y = blocks if isinstance(blocks, tuple) else (blocks, 1)
    return Launch(module, kernel, (x, y, 1), module.kernel(kernel).block, shared_bytes, arguments)


def ceil_div(count: int, size: int) -> int:
    """How many pieces of `size` hold `count`."""
    return -(-count // size)
