"""How much of a key a device keeps."""

import pytest

from kernels.cuda.key import KeySizes
from kernels.curves import BLS12_381, BN254
from kernels.quotient import QuotientBasis

GIB = 2**30


def sizes(log: int, curve=BN254) -> KeySizes:
    return KeySizes(curve, log, 1, 1 << log, 1 << log, QuotientBasis.ODD_COSET)


def test_with_much_room_every_digit_has_its_multiple() -> None:
    large = sizes(20)
    many = large.multiples_within(16 * GIB)
    recoding = large.recoding(1 << 20, many)
    assert recoding.sets == 1
    assert many == recoding.windows


@pytest.mark.parametrize("room", [0, 300 * 2**20, GIB, 2 * GIB, 3 * GIB, 100 * GIB])
@pytest.mark.parametrize("curve", [BN254, BLS12_381], ids=lambda curve: curve.name)
def test_multiples_fit_and_none_is_in_vain(curve, room: int) -> None:
    large = sizes(20, curve)
    many = large.multiples_within(room)
    assert many == 1 or many * large.point_bytes() <= room
    windows, sets = large.recoding(1 << 20, many).windows, large.recoding(1 << 20, many).sets
    assert -(-windows // sets) <= many <= windows


def test_a_digit_is_never_too_narrow_for_a_device() -> None:
    assert sizes(1).recoding(2).width == 8
    assert sizes(1).recoding(0).windows == 254 // 8 + 1


def test_what_one_sort_holds() -> None:
    assert sizes(27).sortable
    assert not KeySizes(BN254, 28, 1, 2**31, 2**28, QuotientBasis.ODD_COSET).sortable
