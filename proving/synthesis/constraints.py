"""From a witness to the evaluations of the constraint system that a prover starts from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels import constraints
from proving.groth16.proving_key import ProvingKey


@dataclass(frozen=True, slots=True, eq=False)
class Evaluations:
    """<A, w> and <B, w> on every row of the domain: (domain, 4) uint64 Montgomery words each."""

    a: NDArray[np.uint64]
    b: NDArray[np.uint64]


def evaluate(key: ProvingKey, witness: NDArray[np.uint64], threads: int = 0) -> Evaluations:
    """Multiply a key's matrices by a witness, (variables, 4) uint64 plain.

    `threads` = 0 uses every available core. Raises ValueError for a witness of another length.
    """
    if len(witness) != key.variable_count:
        raise ValueError(f"the witness has {len(witness)} values, the key wants {key.variable_count}")
    return Evaluations(*constraints.evaluate(key.curve, key.coefficients, witness, key.domain_size, threads))
