"""The two pairing-friendly curves and their constants. Pure Python: needs no native library."""

from dataclasses import dataclass
from enum import IntEnum

Fq2 = tuple[int, int]


class Group(IntEnum):
    """A source group of the pairing: G1 over Fq, G2 over Fq2 (on the sextic twist)."""

    G1 = 1
    G2 = 2


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve. All numbers are plain integers; an Fq2 element c0 + c1 u (u^2 = -1) is the pair (c0, c1)."""

    index: int
    name: str
    snarkjs_name: str
    q: int
    r: int
    fq_words: int
    fr_words: int
    two_adicity: int
    fr_generator: int
    g1: tuple[int, int]
    g2: tuple[Fq2, Fq2]
    b1: int
    b2: Fq2
    xi: Fq2
    parameter: int
    divisive_twist: bool

    def coordinate_words(self, group: Group) -> int:
        """64-bit words of one coordinate of a point."""
        return self.fq_words * int(group)

    def point_words(self, group: Group) -> int:
        """64-bit words of one affine point."""
        return 2 * self.coordinate_words(group)

    def point_bytes(self, group: Group) -> int:
        """Bytes of one affine point."""
        return 8 * self.point_words(group)

    def root_of_unity(self, log_n: int) -> int:
        """The primitive 2^log_n-th root of unity of Fr that snarkjs uses.

        snarkjs raises the least quadratic non-residue to the odd part of r - 1 and squares down.
        Raises ValueError when 2^log_n does not divide r - 1.
        """
        if not 0 <= log_n <= self.two_adicity:
            raise ValueError(
                f"{self.name} has roots of unity of order 2^0 to 2^{self.two_adicity}, not 2^{log_n}"
            )
        return pow(self.fr_generator, (self.r - 1) >> log_n, self.r)

    def coset_shift(self, log_n: int) -> int:
        """What snarkjs multiplies the domain of 2^log_n points by for the quotient (plain, in Fr)."""
        if log_n == self.two_adicity:
            return self.fr_generator * self.fr_generator % self.r
        return self.root_of_unity(log_n + 1)


def _fq2_product(a: Fq2, b: Fq2, q: int) -> Fq2:
    return (a[0] * b[0] - a[1] * b[1]) % q, (a[0] * b[1] + a[1] * b[0]) % q


def _fq2_inverse(a: Fq2, q: int) -> Fq2:
    norm = pow(a[0] * a[0] + a[1] * a[1], -1, q)
    return a[0] * norm % q, -a[1] * norm % q


def _hex(*digits: str) -> int:
    return int("".join(digits), 16)


_BN254_Q = 0x30644E72E131A029B85045B68181585D97816A916871CA8D3C208C16D87CFD47
_BLS12_381_Q = _hex(
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf", "6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab"
)

BN254 = Curve(
    index=0,
    name="bn254",
    snarkjs_name="bn128",
    q=_BN254_Q,
    r=0x30644E72E131A029B85045B68181585D2833E84879B9709143E1F593F0000001,
    fq_words=4,
    fr_words=4,
    two_adicity=28,
    fr_generator=5,
    g1=(1, 2),
    g2=(
        (
            10857046999023057135944570762232829481370756359578518086990519993285655852781,
            11559732032986387107991004021392285783925812861821192530917403151452391805634,
        ),
        (
            8495653923123431417604973247489272438418190587263600148770280649306958101930,
            4082367875863433681332203403145435568316851327593401208105741076214120093531,
        ),
    ),
    b1=3,
    b2=_fq2_product((3, 0), _fq2_inverse((9, 1), _BN254_Q), _BN254_Q),
    xi=(9, 1),
    parameter=4965661367192848881,
    divisive_twist=True,
)

BLS12_381 = Curve(
    index=1,
    name="bls12-381",
    snarkjs_name="bls12381",
    q=_BLS12_381_Q,
    r=0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001,
    fq_words=6,
    fr_words=4,
    two_adicity=32,
    fr_generator=5,
    g1=(
        _hex(
            "17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905",
            "a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb",
        ),
        _hex(
            "08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af6",
            "00db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1",
        ),
    ),
    g2=(
        (
            _hex(
                "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02",
                "b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8",
            ),
            _hex(
                "13e02b6052719f607dacd3a088274f65596bd0d09920b61a",
                "b5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e",
            ),
        ),
        (
            _hex(
                "0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a7",
                "6d429a695160d12c923ac9cc3baca289e193548608b82801",
            ),
            _hex(
                "0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af",
                "267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be",
            ),
        ),
    ),
    b1=4,
    b2=(4, 4),
    xi=(1, 1),
    parameter=-0xD201000000010000,
    divisive_twist=False,
)

CURVES = (BN254, BLS12_381)


def curve_by_prime(r: int) -> Curve:
    """The curve whose scalar field has r elements. Raises ValueError for any other number."""
    for curve in CURVES:
        if curve.r == r:
            return curve
    raise ValueError(f"no supported curve has a scalar field of {r} elements")


def curve_by_name(name: str) -> Curve:
    """The curve called so here ("bn254", "bls12-381") or in snarkjs ("bn128", "bls12381")."""
    for curve in CURVES:
        if name in {curve.name, curve.snarkjs_name}:
            return curve
    raise ValueError(f"no supported curve is called {name!r}: bn254 and bls12-381 are")
