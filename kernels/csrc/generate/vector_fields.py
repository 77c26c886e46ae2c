"""The number format of the AVX2 engine: four field elements, one in each 64-bit lane, in signed limbs.

An element is the sum of limb[i] 2^(bits i), in Montgomery form with R = 2^(limbs bits).
"""

from dataclasses import dataclass
from fractions import Fraction

from kernels.curves import BLS12_381, BN254

# Added to every column of a product, so that logical shifts act as arithmetic ones.
BIAS = 3 << 61

# Elements in memory are below (1 + 1/64) p: `reduced` estimates the multiple of p to take away.
REDUCED_LIMIT = Fraction(65, 64)

# The estimate is made on p LIFT times larger, so that it is never negative.
LIFT = 24
ESTIMATE_SHIFT = 38


@dataclass(frozen=True, slots=True)
class VectorField:
    """One field in the vector format, with the constants that its arithmetic needs (plain integers)."""

    name: str
    modulus: int
    words: int
    limbs: int
    bits: int

    @property
    def base(self) -> int:
        return 1 << self.bits

    @property
    def radix(self) -> int:
        """The Montgomery R."""
        return 1 << (self.bits * self.limbs)

    @property
    def top_weight(self) -> int:
        """log2 of the weight of the highest limb."""
        return self.bits * (self.limbs - 1)

    @property
    def quotient_factor(self) -> int:
        """-1/p modulo the base."""
        return -pow(self.modulus, -1, self.base) % self.base

    @property
    def shifted_modulus(self) -> int:
        """m = (k p + 1) / base, k = -1/p: adding q k p to a number with lowest limb q is adding q m above."""
        return (self.quotient_factor * self.modulus + 1) >> self.bits

    @property
    def modulus_top(self) -> int:
        return self.modulus >> self.top_weight

    @property
    def estimate(self) -> int:
        """x estimate / 2^ESTIMATE_SHIFT is just below x / (p's highest limb + 1)."""
        return (1 << ESTIMATE_SHIFT) // (self.modulus_top + 1)

    @property
    def carry_bias(self) -> int:
        """What the bias of a column carries into the next."""
        return BIAS >> self.bits

    @property
    def reduced_limit(self) -> int:
        return int(REDUCED_LIMIT * self.modulus)

    def split(self, value: int) -> list[int]:
        """The limbs of a number that is not negative; the highest takes what is left."""
        low = [(value >> (self.bits * i)) & (self.base - 1) for i in range(self.limbs - 1)]
        return [*low, value >> self.top_weight]


FIELDS = (
    VectorField("bn254_fq", BN254.q, 4, 9, 29),
    VectorField("bn254_fr", BN254.r, 4, 9, 29),
    VectorField("bls12_381_fq", BLS12_381.q, 6, 14, 28),
    VectorField("bls12_381_fr", BLS12_381.r, 4, 9, 29),
)


def fields_of_shape(limbs: int, bits: int) -> list[VectorField]:
    return [field for field in FIELDS if (field.limbs, field.bits) == (limbs, bits)]


SHAPES = tuple(dict.fromkeys((field.limbs, field.bits) for field in FIELDS))
