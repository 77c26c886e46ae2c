"""What the device launches for constraints, transforms and the quotient; see kernels/csrc/cuda/README.md."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntFlag

import numpy as np

from kernels.curves import Curve
from kernels.launches import NO_ADDRESS, Launch, ceil_div, launch
from kernels.modules import Module
from kernels.native import Words

FR_BYTES = 32
TILE_BITS = 10  # elements of a transform's tile: 32 KiB of shared memory


class PassFlag(IntFlag):
    """What one pass of a transform does; see kernels/csrc/cuda/README.md."""

    DESCEND = 1
    ASCEND = 2
    LOAD_REVERSED = 4
    STORE_REVERSED = 8


@dataclass(frozen=True, slots=True)
class Pass:
    """The index bits [low, low + bits), for 2^column_bits neighbours at once."""

    low: int
    bits: int
    column_bits: int


def passes(log_n: int, tile_bits: int = TILE_BITS) -> list[Pass]:
    """The passes of a transform, from the lowest index bits up; at least one."""
    count = max(1, ceil_div(log_n, tile_bits))
    found, low = [], 0
    for i in range(count):
        bits = ceil_div(log_n - low, count - i)
        found.append(Pass(low, bits, min(tile_bits - bits, log_n - bits)))
        low += bits
    return found


def montgomery_words(curve: Curve, values: list[int]) -> Words:
    """Elements of Fr as (n, 4) Montgomery words."""
    return plain_words(curve, [(value << 256) % curve.r for value in values])


def plain_words(curve: Curve, values: list[int]) -> Words:
    """Elements of Fr as (n, 4) plain words."""
    packed = b"".join((value % curve.r).to_bytes(FR_BYTES, "little") for value in values)
    return np.frombuffer(packed, dtype="<u8").reshape(-1, 4).copy()


def roots(curve: Curve, log_n: int) -> Words:
    """What `make_twiddles` reads: the primitive 2^i-th roots of unity, i from 0 to log_n, (log_n + 1, 4)."""
    return montgomery_words(curve, [curve.root_of_unity(i) for i in range(log_n + 1)])


def scale_powers(curve: Curve, log_n: int, base: int, factor: int, *, plain: bool = False) -> Words:
    """What `make_scales` reads: base^(2^b) for b < log_n, then the factor, (log_n + 1, 4).

    With `plain` the scaled values leave the Montgomery form.
    """
    powers = [pow(base, 1 << bit, curve.r) for bit in range(log_n)]
    last = plain_words(curve, [factor]) if plain else montgomery_words(curve, [factor])
    return np.concatenate([montgomery_words(curve, powers), last]) if powers else last


def coset_powers(curve: Curve, log_n: int) -> Words:
    """The scales from the domain to the odd coset: shift^i / n."""
    return scale_powers(curve, log_n, curve.coset_shift(log_n), pow(1 << log_n, -1, curve.r))


def coefficient_powers(curve: Curve, log_n: int) -> Words:
    """The scales from the odd coset to the plain coefficients of the quotient by Z: shift^-i / (n Z)."""
    shift, n = curve.coset_shift(log_n), 1 << log_n
    vanishing = pow(shift, n, curve.r) - 1
    factor = pow(n * vanishing, -1, curve.r)
    return scale_powers(curve, log_n, pow(shift, -1, curve.r), factor, plain=True)


def make_twiddles(module: Module, roots_at: int, log_n: int, table: int) -> Launch:
    """Fill the table of 2^log_n elements that transforms up to this size read."""
    return launch(module, "make_twiddles", ceil_div(1 << log_n, 128 * 16), roots_at, log_n, table)


def make_scales(module: Module, powers: int, log_n: int, scales: int) -> Launch:
    """Fill 2^log_n scales in reversed order."""
    return launch(module, "make_scales", ceil_div(1 << log_n, 128), powers, log_n, scales)


def transform_pass(
    module: Module,
    log_n: int,
    part: Pass,
    flags: PassFlag,
    *,
    source: int,
    target: int,
    table: int,
    scales: int = NO_ADDRESS,
    batch: int = 1,
) -> Launch:
    """One pass over `batch` arrays of 2^log_n elements that lie one after another."""
    tile = part.bits + part.column_bits
    arguments = (source, target, table, scales, log_n, part.low, part.bits, part.column_bits, int(flags))
    blocks = (1 << (log_n - tile), batch)
    return launch(module, "transform", blocks, *arguments, shared_bytes=FR_BYTES << tile)


def forward(
    module: Module, log_n: int, *, source: int, target: int, table: int, scales: int = NO_ADDRESS
) -> Iterator[Launch]:
    """Coefficients, times scales, to values, natural order in and out; source is not target."""
    first, *rest = passes(log_n)
    flags = PassFlag.ASCEND | PassFlag.LOAD_REVERSED
    yield transform_pass(
        module, log_n, first, flags, source=source, target=target, table=table, scales=scales
    )
    for part in rest:
        yield transform_pass(module, log_n, part, PassFlag.ASCEND, source=target, target=target, table=table)


def inverse(
    module: Module, log_n: int, *, source: int, target: int, table: int, scales: int
) -> Iterator[Launch]:
    """Values to coefficients, natural order in and out; source is not target and is overwritten.

    `scales` carry at least 1/n.
    """
    first, *rest = passes(log_n)
    for part in reversed(rest):
        yield transform_pass(module, log_n, part, PassFlag.DESCEND, source=source, target=source, table=table)
    flags = PassFlag.DESCEND | PassFlag.STORE_REVERSED
    yield transform_pass(
        module, log_n, first, flags, source=source, target=target, table=table, scales=scales
    )


def move_to_coset(
    module: Module, log_n: int, *, values: int, batch: int, table: int, scales: int
) -> Iterator[Launch]:
    """Values on the domain to values on the coset, in place, natural order in and out."""
    first, *rest = passes(log_n)
    both = PassFlag.DESCEND | PassFlag.ASCEND
    steps = [(part, PassFlag.DESCEND, NO_ADDRESS) for part in reversed(rest)]
    steps += [(first, both, scales), *((part, PassFlag.ASCEND, NO_ADDRESS) for part in rest)]
    for part, flags, factors in steps:
        where = {"source": values, "target": values, "table": table, "scales": factors}
        yield transform_pass(module, log_n, part, flags, batch=batch, **where)


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain's tables on the device: twiddles and coset scales of 2^log_n elements each.

    `coefficient_scales` is of the same size, and needed for the monomial basis only.
    """

    log_n: int
    table: int
    coset_scales: int
    coefficient_scales: int = NO_ADDRESS


def quotient_values(module: Module, domain: Domain, *, values: int, plain: bool = True) -> Iterator[Launch]:
    """A B - C on the odd coset, into the first of three arrays.

    `values` is room for 3 x 2^log_n elements, of which the first two are the evaluations of A and B
    (Montgomery); all three are overwritten.
    """
    n = 1 << domain.log_n
    a, b, c = (values + FR_BYTES * n * i for i in range(3))
    yield launch(module, "multiply_pointwise", ceil_div(n, 256), a, b, n, c)
    yield from move_to_coset(
        module, domain.log_n, values=values, batch=3, table=domain.table, scales=domain.coset_scales
    )
    yield launch(module, "subtract_products", ceil_div(n, 256), a, b, c, n, int(plain), a)


def quotient_coefficients(module: Module, domain: Domain, *, values: int) -> Iterator[Launch]:
    """The plain coefficients of (A B - C) / Z, into the SECOND of three arrays.

    Otherwise as `quotient_values`. The last of the 2^log_n coefficients is zero.
    """
    yield from quotient_values(module, domain, values=values, plain=False)
    yield from inverse(
        module,
        domain.log_n,
        source=values,
        target=values + (FR_BYTES << domain.log_n),
        table=domain.table,
        scales=domain.coefficient_scales,
    )


@dataclass(frozen=True, slots=True)
class Matrices:
    """Constraint matrices on the device, A's rows and then B's; see kernels/csrc/cuda/README.md."""

    rows: int
    row_starts: int
    terms: int
    coefficients: int
    longest: int
    long_rows: int = NO_ADDRESS
    long_row_count: int = 0


def evaluate(module: Module, matrices: Matrices, *, witness: int, values: int) -> Iterator[Launch]:
    """The values of A and then B on the domain, Montgomery, from a plain witness."""
    m = matrices
    where = (m.row_starts, m.terms, m.coefficients, witness)
    yield launch(module, "evaluate_rows", ceil_div(m.rows, 128), *where, m.rows, m.longest, values)
    if m.long_row_count:
        yield launch(
            module,
            "evaluate_long_rows",
            m.long_row_count,
            *(*where, m.long_rows, values),
            shared_bytes=128 * FR_BYTES,
        )
