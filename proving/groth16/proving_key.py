"""A Groth16 proving key in memory, whatever file it came from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.curves import Curve
from kernels.device import KeyPoints
from proving.groth16.objects import G1, G2, VerifyingKey


@dataclass(frozen=True, slots=True, eq=False)
class ProvingKey:
    """What a prover needs of one circuit.

    `coefficients` is the body of a zkey's section 4, uint8: a u32 count, then records of matrix u32
    (0 = A, 1 = B), row u32, wire u32 and the value as Fr words scaled by R^2. It may be a view of a
    mapped file, as may the arrays of `points`. The single points are plain integers.
    `key_id` names the key where devices keep it resident. `contributions` counts the entries of the
    ceremony's record; `insecure` is set for keys whose randomness one machine drew and threw away.
    """

    curve: Curve
    variable_count: int
    public_count: int
    domain_size: int
    coefficients: NDArray[np.uint8]
    points: KeyPoints
    alpha_g1: G1
    beta_g1: G1
    beta_g2: G2
    gamma_g2: G2
    delta_g1: G1
    delta_g2: G2
    ic: tuple[G1, ...]
    key_id: str
    contributions: int = 0
    insecure: bool = False

    @property
    def log_domain(self) -> int:
        """The domain holds 2^log_domain rows."""
        return self.domain_size.bit_length() - 1

    @property
    def verifying_key(self) -> VerifyingKey:
        """The key that verifies proofs made with this one."""
        return VerifyingKey(self.curve, self.alpha_g1, self.beta_g2, self.gamma_g2, self.delta_g2, self.ic)
