"""A proving key from bellman parameters and the constraint system that they were made for, and back.

Parameters hold no constraint matrices and leave out points at infinity: which wires have a point follows from
the constraint system. It is held against the parameters before anything is proved.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.curves import BLS12_381, Group
from kernels.device import KeyPoints
from kernels.quotient import QuotientBasis
from proving.formats.bellman import (
    QUERIES,
    BellmanVerifyingKey,
    Parameters,
    verifying_key_to_bellman,
)
from proving.formats.errors import FormatError
from proving.formats.r1cs import Matrix, R1cs
from proving.formats.zcash_points import encode_array
from proving.groth16.proving_key import ProvingKey
from proving.groth16.qap import RowOrder, domain_size, encode_records, key_records


def key_from_parameters(parameters: Parameters, system: R1cs, key_id: str) -> ProvingKey:
    """The proving key for a constraint system. Raises FormatError when the parameters are for another one."""
    check_system(parameters, system)
    a_wires, b_wires = used_wires(system, system.a), used_wires(system, system.b)
    a_wires[: system.public_count + 1] = True  # each has a row of its own, in A
    check_density(parameters, "a", a_wires)
    check_density(parameters, "b_g1", b_wires)
    verifying = parameters.verifying_key
    return ProvingKey(
        curve=BLS12_381,
        variable_count=system.wires,
        public_count=system.public_count,
        domain_size=parameters.domain_size,
        coefficients=encode_records(key_records(system, RowOrder.BELLMAN)),
        points=KeyPoints(
            curve=BLS12_381,
            log_domain=parameters.domain_size.bit_length() - 1,
            public_count=system.public_count,
            a=spread(parameters.points("a"), a_wires),
            b1=spread(parameters.points("b_g1"), b_wires),
            b2=spread(parameters.points("b_g2"), b_wires),
            c=parameters.points("l"),
            h=parameters.points("h"),
            h_basis=QuotientBasis.MONOMIAL,
        ),
        alpha_g1=verifying.key.alpha_g1,
        beta_g1=verifying.beta_g1,
        beta_g2=verifying.key.beta_g2,
        gamma_g2=verifying.key.gamma_g2,
        delta_g1=verifying.delta_g1,
        delta_g2=verifying.key.delta_g2,
        ic=verifying.key.ic,
        key_id=key_id,
        contributions=parameters.contributions or 0,
    )


def check_system(parameters: Parameters, system: R1cs) -> None:
    """Refuse a constraint system whose sizes are not those of the parameters."""

    def refuse(place: str, reason: str) -> FormatError:
        return FormatError(parameters.file, place, f"{reason}: not the parameters of this circuit")

    if system.curve != BLS12_381:
        raise refuse("curve", f"is {BLS12_381.name}, the constraint system is on {system.curve.name}")
    ic, inputs = len(parameters.verifying_key.key.ic), system.public_count + 1
    if ic != inputs:
        raise refuse("verifying key", f"has {ic} ic points, the constraint system wants {inputs}")
    private = system.wires - inputs
    if len(parameters.l) != private:
        raise refuse(
            "l query", f"has {len(parameters.l)} points, the constraint system {private} private wires"
        )
    if domain_size(system, RowOrder.BELLMAN) != parameters.domain_size:
        wanted = domain_size(system, RowOrder.BELLMAN) - 1
        raise refuse("h query", f"has {len(parameters.h)} points, the constraint system wants {wanted}")


def used_wires(system: R1cs, matrix: Matrix) -> NDArray[np.bool_]:
    """Which wires a matrix uses, (wires,): those with a coefficient that is not zero."""
    used = np.zeros(system.wires, dtype=bool)
    used[matrix.columns[matrix.values.any(axis=1)]] = True
    return used


def check_density(parameters: Parameters, name: str, used: NDArray[np.bool_]) -> None:
    """Refuse parameters with points for more or fewer wires than the constraint system uses."""
    found, wanted = len(getattr(parameters, name)), int(used.sum())
    if found != wanted:
        reason = f"has {found} points, the constraint system uses {wanted} wires there"
        raise FormatError(parameters.file, f"{name} query", f"{reason}: not the parameters of this circuit")


def spread(points: NDArray[np.uint64], used: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Points for the used wires, in their places among all wires; infinity for the others."""
    whole = np.zeros((len(used), points.shape[1]), dtype=np.uint64)
    whole[used] = points
    return whole


def encode_parameters(key: ProvingKey) -> list[bytes]:
    """The pieces of a parameters file. Raises ValueError for a key that bellman has no form for."""
    points = key.points
    if points.h_basis is not QuotientBasis.MONOMIAL:
        raise ValueError("the key's H is for the values of the quotient, bellman's is for its coefficients")
    verifying = BellmanVerifyingKey(key.verifying_key, key.beta_g1, key.delta_g1)
    arrays = {"h": points.h, "l": points.c, "a": points.a, "b_g1": points.b1, "b_g2": points.b2}
    pieces = [verifying_key_to_bellman(verifying)]
    for name, group in QUERIES:
        if name in {"h", "l"} and not arrays[name].any(axis=1).all():
            raise ValueError(f"a wire of the {name} query is unconstrained: bellman's files cannot say so")
        pieces += encode_query(group, arrays[name])
    return pieces


def encode_query(group: Group, points: NDArray[np.uint64]) -> tuple[bytes, bytes]:
    """The count and the bytes of the points that are not at infinity."""
    finite = points[points.any(axis=1)]
    return len(finite).to_bytes(4, "big"), encode_array(group, finite)
