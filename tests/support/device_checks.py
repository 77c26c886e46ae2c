"""What a device computes, held against the CPU library: large sizes on a GPU, small ones on a stand-in."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np

from kernels import field, modules, msm, ntt, points, polynomial_launches, quotient
from kernels.cuda.driver import Arena, Driver
from kernels.cuda.key import KeySizes, fill_tables, make_room_for_domain
from kernels.cuda.msm import Adder, Sorter, combined
from kernels.cuda.place import Workplace
from kernels.cuda.proof import Arrived
from kernels.cuda.proof import quotient as device_quotient
from kernels.curves import Curve, Group
from kernels.field import Field
from kernels.launches import ceil_div, launch
from kernels.quotient import QuotientBasis
from kernels.sum_launches import Recoding, choose_width, double_points

Words = np.ndarray
SEED = 7


class Bench:
    """A device with arrays on it for one check after another."""

    def __init__(self, driver: Driver) -> None:
        driver.attach()
        self.driver = driver
        self.place = Workplace(driver, driver.new_stream())

    def arena(self) -> Arena:
        return Arena(self.driver, self.place.stream)

    def put(self, arena: Arena, array: np.ndarray) -> int:
        buffer = arena.allocate(array.nbytes)
        self.place.put(buffer.address, array)
        return buffer.address


def random_elements(one_field: Field, count: int, random: Random) -> Words:
    """Elements below the modulus, the edges among them."""
    p = one_field.modulus
    edges = [0, 1, 2, p - 1, p - 2, (1 << 32) - 1, (1 << 64) - 1, p ^ 0xFFFFFFFF]
    values = [value % p for value in edges[:count]]
    values += [random.randrange(p) for _ in range(count - len(values))]
    packed = b"".join(value.to_bytes(8 * one_field.words, "little") for value in values)
    return np.frombuffer(packed, dtype="<u8").reshape(-1, one_field.words).copy()


OPERATIONS: dict[int, Callable[[Field, Words, Words], Words]] = {
    0: field.mul,
    1: field.add,
    2: field.sub,
    3: lambda f, a, _: field.inverse(f, a),
    4: lambda f, a, _: field.to_montgomery(f, a),
    5: lambda f, a, _: field.from_montgomery(f, a),
    6: lambda f, a, _: field.mul(f, a, a),
    7: lambda f, a, _: field.sub(f, np.zeros_like(a), a),
}


def check_field(bench: Bench, curve: Curve, *, scalar: bool, count: int) -> None:
    """Every operation on arrays of elements."""
    one, random = Field(curve, scalar=scalar), Random(SEED)
    a, b = random_elements(one, count, random), random_elements(one, count, random)[::-1].copy()
    module, kernel = modules.arithmetic(curve), "apply_fr" if scalar else "apply_fq"
    for operation, expected in OPERATIONS.items():
        with bench.arena() as arena:
            at_a, at_b, out = bench.put(arena, a), bench.put(arena, b), arena.allocate(a.nbytes)
            bench.place.run(
                [launch(module, kernel, ceil_div(count, 128), operation, at_a, at_b, count, out.address)]
            )
            found = bench.place.read(out.address, *a.shape)
        assert np.array_equal(found, expected(one, a, b)), (curve.name, kernel, operation)


def sizes_of(curve: Curve, log_n: int, basis: QuotientBasis) -> KeySizes:
    return KeySizes(curve, log_n, 0, 1, 1, basis)


def check_transform(bench: Bench, curve: Curve, log_n: int) -> None:
    """Coefficients to values, and the same values back."""
    data = random_elements(field.scalar_field(curve), 1 << log_n, Random(SEED))
    expected = data.copy()
    ntt.ntt(curve, expected)
    module, sizes = modules.polynomials(curve), sizes_of(curve, log_n, QuotientBasis.ODD_COSET)
    with bench.arena() as arena:
        domain = make_room_for_domain(sizes, arena)
        fill_tables(sizes, domain, bench.place, arena)
        source, target = bench.put(arena, data), arena.allocate(data.nbytes)
        forward = polynomial_launches.forward(
            module, log_n, source=source, target=target.address, table=domain.table
        )
        bench.place.run(forward)
        found = bench.place.read(target.address, *data.shape)
    assert np.array_equal(found, expected), (curve.name, log_n)


def check_quotient(bench: Bench, curve: Curve, log_n: int, basis: QuotientBasis) -> None:
    """The scalars of H, in either basis."""
    fr, random = field.scalar_field(curve), Random(SEED)
    a, b = (random_elements(fr, 1 << log_n, random) for _ in range(2))
    expected = quotient.quotient_scalars(basis, curve, a.copy(), b.copy(), log_n)
    sizes = sizes_of(curve, log_n, basis)
    with bench.arena() as arena:
        domain = make_room_for_domain(sizes, arena)
        fill_tables(sizes, domain, bench.place, arena)
        values = bench.put(arena, np.concatenate([a, b, np.zeros_like(a)]))
        where = device_quotient(bench.place, sizes, domain, Arrived(0, values))
        found = bench.place.read(where, *expected.shape) if len(expected) else expected
    assert np.array_equal(found, expected), (curve.name, log_n, basis)


@dataclass(frozen=True)
class Case:
    """Points as multiples of the generator, and scalars."""

    name: str
    logarithms: list[int]
    scalars: list[int]


def cases(curve: Curve, count: int) -> list[Case]:
    """Scalars and points of every kind that has ever gone wrong somewhere."""
    r, random = curve.r, Random(SEED)
    some = [random.randrange(1, r) for _ in range(count)]
    others = [random.randrange(r) for _ in range(count)]
    halves = [*some[: count // 2], *(r - value for value in some[: count - count // 2])]
    return [
        Case("random", some, others),
        Case("zeros", some, [0] * count),
        Case("ones", some, [1] * count),
        Case("mostly bits", some, [random.randrange(2) for _ in range(count - 1)] + [others[0]]),
        Case("equal scalars", some, [others[0]] * count),
        Case("largest", some, [r - 1] * count),
        Case("equal points", [some[0]] * count, others),
        Case("equal points and scalars", [some[0]] * count, [others[0]] * count),
        Case("opposite points", halves, [others[0]] * count),
        Case("points at infinity", [0 if i % 3 else some[i] for i in range(count)], others),
        Case("all at infinity", [0] * count, others),
    ]


def check_sum(bench: Bench, curve: Curve, group: Group, case: Case, multiples: int = 1) -> None:
    """One multi-scalar multiplication, with multiples of the points where asked for."""
    generator = points.from_integers(curve, group, curve.g1 if group is Group.G1 else curve.g2)
    base = points.fixed_base_multiply(
        curve, group, generator, polynomial_launches.plain_words(curve, case.logarithms)
    )
    scalars = polynomial_launches.plain_words(curve, case.scalars)
    expected = msm.msm(curve, group, base, scalars)
    count, module = len(scalars), modules.sums(curve, group)
    bits = curve.r.bit_length()
    recoding = Recoding(bits, max(8, choose_width(count, bits, multiples)), multiples)
    size = count * curve.point_bytes(group)
    with bench.arena() as arena:
        points_at = arena.allocate(multiples * size).address
        bench.place.put(points_at, base)
        for number in range(1, multiples):
            earlier = points_at + (number - 1) * size
            bench.place.run(
                [double_points(module, points=earlier, count=count, recoding=recoding, out=earlier + size)]
            )
        sorter = Sorter(bench.place, arena, recoding, count)
        sorter.sort(bench.put(arena, scalars), count, count)
        adder = Adder(bench.place, arena, curve, group, recoding)
        adder.add(points_at, sorter)
        found = combined(adder.sums())
    assert np.array_equal(found, expected), (curve.name, group, case.name, count, multiples)
