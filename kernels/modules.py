"""The device's modules: their sources, options, kernels and what each kernel is launched with.

Pure data, without CUDA: whoever launches (a driver, the stand-in of the tests) and whoever compiles reads it.
All arrays are C-contiguous and aligned to 16 bytes. Field elements are little-endian words as on the host
(Fr 32 bytes, Fq 8 W, W = 4 or 6), in Montgomery form unless "plain" is said. A point is `affine` (x, y),
all zero at infinity, or a `sum` (x, y, zz, zzz: x = X / ZZ, y = Y / ZZZ), infinity where zz is zero.
"""

from dataclasses import dataclass
from enum import Enum

from kernels.curves import Curve, Group

OPTIONS = ("-std=c++20", "-default-device")
ENTRY_BYTES = 8
RECODING_BYTES = 48


class ParameterKind(Enum):
    """The type of one argument of a kernel; the value is its size in bytes."""

    POINTER = ("pointer", 8)
    U32 = ("u32", 4)
    U64 = ("u64", 8)

    @property
    def size(self) -> int:
        """Bytes of the argument."""
        return int(self.value[1])


@dataclass(frozen=True, slots=True)
class Kernel:
    """One entry point. `block` is the launch bound: a launch has exactly so many threads a block."""

    name: str
    block: int
    parameters: tuple[tuple[str, ParameterKind], ...]


@dataclass(frozen=True, slots=True)
class Module:
    """One program: `source` lies below kernels/csrc, `options` follow OPTIONS."""

    name: str
    source: str
    options: tuple[str, ...]
    kernels: tuple[Kernel, ...]

    def kernel(self, name: str) -> Kernel:
        """The kernel called so. Raises KeyError."""
        for kernel in self.kernels:
            if kernel.name == name:
                return kernel
        raise KeyError(f"module {self.name} has no kernel {name}")


def _kernel(name: str, block: int, parameters: str) -> Kernel:
    """`parameters` is "pointer a, u64 n"."""
    kinds = {kind.value[0]: kind for kind in ParameterKind}
    pairs = [parameter.split() for parameter in parameters.split(", ")]
    return Kernel(name, block, tuple((what, kinds[kind]) for kind, what in pairs))


_APPLY = "u32 operation, pointer a, pointer b, u64 n, pointer out"
_ARITHMETIC = (
    _kernel("apply_fr", 128, _APPLY),
    _kernel("apply_fq", 128, _APPLY),
    _kernel("apply_fq2", 128, _APPLY),
    _kernel("repeat_fr", 128, "pointer x, pointer y, u32 repetitions"),
    _kernel("repeat_fq", 128, "pointer x, pointer y, u32 repetitions"),
)

_MATRIX = "pointer row_starts, pointer terms, pointer coefficients, pointer witness"
_POLYNOMIALS = (
    _kernel("evaluate_rows", 128, f"{_MATRIX}, u64 rows, u32 longest, pointer out"),
    _kernel("evaluate_long_rows", 128, f"{_MATRIX}, pointer long_rows, pointer out"),
    _kernel("multiply_pointwise", 256, "pointer a, pointer b, u64 n, pointer out"),
    _kernel("subtract_products", 256, "pointer a, pointer b, pointer c, u64 n, u32 plain, pointer out"),
    _kernel("make_twiddles", 128, "pointer roots, u32 log_n, pointer table"),
    _kernel("make_scales", 128, "pointer powers, u32 log_n, pointer scales"),
    _kernel(
        "transform",
        256,
        "pointer source, pointer target, pointer table, pointer scales, u32 log_n, u32 low, u32 bits, "
        "u32 column_bits, u32 flags",
    ),
)

_DIGITS = (
    _kernel(
        "count_digits",
        256,
        "pointer scalars, pointer selection, u64 n, pointer recoding, u32 sets, pointer counts",
    ),
    _kernel("scan_tiles", 256, "pointer values, u64 n, pointer totals"),
    _kernel("scan_totals", 256, "pointer totals, u64 n"),
    _kernel("add_totals", 256, "pointer values, u64 n, pointer totals"),
    _kernel(
        "scatter_digits",
        256,
        "pointer scalars, pointer selection, u64 n, pointer recoding, u32 sets, u64 stride, "
        "pointer cursors, pointer entries",
    ),
)

_SUMS = (
    _kernel(
        "accumulate_entries",
        128,
        "pointer points, pointer entries, pointer total, u32 least_span, pointer buckets, "
        "pointer partials, pointer partial_buckets",
    ),
    _kernel(
        "accumulate_partials",
        128,
        "pointer partials, pointer partial_buckets, u32 count, u32 span, pointer buckets, "
        "pointer next_partials, pointer next_buckets",
    ),
    _kernel("reduce_buckets", 128, "pointer buckets, u64 outputs, u32 log_span, pointer pairs"),
    _kernel("merge_pairs", 128, "pointer pairs, u64 outputs, u32 log_span, u32 log_size, pointer merged"),
    _kernel("finish_sets", 128, "pointer pairs, u32 count, u32 log_size, pointer sums"),
    _kernel("double_points", 128, "pointer points, u64 n, u32 doublings, pointer out"),
)


def _curve_options(curve: Curve) -> tuple[str, ...]:
    return (f"-DCUZK_CURVE={curve.name.replace('-', '_')}",)


def arithmetic(curve: Curve) -> Module:
    """Field operations of one curve on arrays: for tests and for measuring the multiply."""
    return Module(f"arithmetic-{curve.name}", "cuda/arithmetic.cu", _curve_options(curve), _ARITHMETIC)


def polynomials(curve: Curve) -> Module:
    """Constraint evaluation, transforms and the quotient over Fr of one curve."""
    return Module(f"polynomials-{curve.name}", "cuda/polynomials.cu", _curve_options(curve), _POLYNOMIALS)


def digits() -> Module:
    """Scalars to signed digits sorted by bucket, for every curve."""
    return Module("digits", "cuda/digits.cu", (), _DIGITS)


def sums(curve: Curve, group: Group) -> Module:
    """Bucket sums of one group."""
    options = (*_curve_options(curve), f"-DCUZK_GROUP={int(group)}")
    return Module(f"sums-{curve.name}-g{int(group)}", "cuda/sums.cu", options, _SUMS)


def affine_bytes(curve: Curve, group: Group) -> int:
    """Bytes of an affine point."""
    return curve.point_bytes(group)


def sum_bytes(curve: Curve, group: Group) -> int:
    """Bytes of a sum (XYZZ)."""
    return 2 * curve.point_bytes(group)
