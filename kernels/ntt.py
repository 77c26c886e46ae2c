"""Number-theoretic transforms over Fr, and the quotient that a proof from a zkey needs."""

import numpy as np

from kernels.curves import Curve
from kernels.native import Words, address, call, thread_count, writable_words


def ntt(
    curve: Curve, data: Words, *, inverse: bool = False, coset_shift: int | None = None, threads: int = 0
) -> None:
    """Transform `data`, (2^k, 4) Montgomery words, in place; natural order in and out.

    Forward: coefficients to values at shift w^i, w = `curve.root_of_unity(k)`, shift 1 unless `coset_shift`
    (a plain integer, not zero) is given. Inverse: the way back, with the factor 1/n. Raises ValueError when
    the number of elements is no power of two or larger than Fr allows.
    """
    array = writable_words(data, curve.fr_words, "data")
    log_n = _log_size(curve, len(array))
    shift = None
    if coset_shift is not None:
        if coset_shift % curve.r == 0:
            raise ValueError("a coset shift is not zero")
        shift = (coset_shift % curve.r).to_bytes(8 * curve.fr_words, "little")
    call("cuzk_ntt", curve.index, address(array), log_n, int(inverse), shift, thread_count(threads))


def quotient(curve: Curve, a: Words, b: Words, log_n: int, threads: int = 0) -> Words:
    """The evaluations of A B - C on the odd coset, plain, (n, 4): what snarkjs multiplies section H by.

    a and b are evaluations on the domain of n = 2^log_n points, (n, 4) Montgomery words; they are
    DESTROYED. C is the polynomial with the values a[i] b[i]. The coset is `curve.coset_shift(log_n)` times
    the domain. Raises ValueError for arrays of another size.
    """
    left, right = (writable_words(x, curve.fr_words, name) for x, name in ((a, "a"), (b, "b")))
    if not 0 <= log_n <= curve.two_adicity:
        raise ValueError(f"log_n must be 0 to {curve.two_adicity}, not {log_n}")
    if not len(left) == len(right) == 1 << log_n:
        raise ValueError(f"a and b must have {1 << log_n} elements, not {len(left)} and {len(right)}")
    if np.may_share_memory(left, right):
        raise ValueError("a and b must not share memory")
    out = np.empty_like(left)
    operands = (address(left), address(right), log_n, address(out))
    call("cuzk_quotient", curve.index, *operands, thread_count(threads))
    return out


def _log_size(curve: Curve, size: int) -> int:
    log_n = size.bit_length() - 1
    if size == 0 or size != 1 << log_n or log_n > curve.two_adicity:
        raise ValueError(f"data must have 2^k elements with k from 0 to {curve.two_adicity}, not {size}")
    return log_n
