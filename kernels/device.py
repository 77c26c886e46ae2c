"""The device seam: what every prover device, CPU or GPU, does for the layers above.

A device keeps proving keys resident, runs the arithmetic stages of a Groth16 proof and
returns the raw multi-scalar sums. Blinding and assembly belong to the caller.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kernels.curves import Curve
from kernels.library import Cancelled as Cancelled  # noqa: PLC0414 - whoever has a device needs it
from kernels.quotient import QuotientBasis


class Stage(StrEnum):
    """The stages of a proof on a device, in the order in which they run."""

    QUOTIENT = "quotient"
    A = "a"
    B1 = "b1"
    B2 = "b2"
    C = "c"
    H = "h"


class DeviceUnavailable(Exception):  # noqa: N818 - the fact, as callers read it
    """The named device cannot be opened here; the text says why."""


@dataclass(frozen=True, slots=True, eq=False)
class KeyPoints:
    """The bases of a proving key: affine points in Montgomery form, all-zero words for infinity.

    With W the 64-bit words of Fq: `a` and `b1` are (wires, 2W), `b2` is (wires, 4W),
    `c` is (wires - public_count - 1, 2W) over the wires after the public ones, and `h` is
    (2**log_domain, 2W), the Lagrange basis on the odd coset, unless `h_basis` says that it is for the
    coefficients of the quotient: then it is (2**log_domain - 1, 2W). `coefficients` is what
    `kernels.constraints.evaluate` takes, for a device that is given no evaluations.
    """

    curve: Curve
    log_domain: int
    public_count: int
    a: NDArray[np.uint64]
    b1: NDArray[np.uint64]
    b2: NDArray[np.uint64]
    c: NDArray[np.uint64]
    h: NDArray[np.uint64]
    h_basis: QuotientBasis = QuotientBasis.ODD_COSET
    coefficients: NDArray[np.uint8] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the five arrays."""
        return sum(array.nbytes for array in (self.a, self.b1, self.b2, self.c, self.h))


@dataclass(frozen=True, slots=True, eq=False)
class ProverSums:
    """The five raw sums of a proof, before alpha, beta, r and s: affine Montgomery words.

    `a`, `b1`, `c` and `h` are (2W,), `b2` is (4W,).
    """

    a: NDArray[np.uint64]
    b1: NDArray[np.uint64]
    b2: NDArray[np.uint64]
    c: NDArray[np.uint64]
    h: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """The device's memory budget, in bytes; what is used exceeds it when one key alone does."""

    total_bytes: int
    used_bytes: int
    free_bytes: int


@dataclass(frozen=True, slots=True)
class ResidentKey:
    """A proving key that the device holds; `last_used` is a reading of time.monotonic()."""

    key_id: str
    bytes: int
    last_used: float
    in_use: bool


def never() -> bool:
    """The `cancelled` of a caller who never cancels."""
    return False


def silent(_stage: Stage, _seconds: float) -> None:
    """The `report` of a caller who does not listen."""


class Device(Protocol):
    """A prover device. Methods may be called from several threads."""

    @property
    def name(self) -> str:
        """As configured: "host" or "cuda:<ordinal>"."""
        ...

    @property
    def model(self) -> str:
        """What the hardware calls itself."""
        ...

    @property
    def evaluates(self) -> bool:
        """Whether it evaluates constraints sooner than evaluations reach it: leave `a` and `b` out."""
        ...

    @property
    def bounded(self) -> bool:
        """Whether a key and its work have to fit the budget; else what does not fit is done in pieces."""
        ...

    @property
    def usable(self) -> bool:
        """False once the hardware failed so that only a new process can use it: proofs come from the CPU."""
        ...

    @property
    def busy_seconds(self) -> float:
        """Seconds so far in which the stages of some proof ran on it."""
        ...

    def prove(
        self,
        key_id: str,
        load: Callable[[], KeyPoints],
        witness: NDArray[np.uint64],
        a: NDArray[np.uint64] | None = None,
        b: NDArray[np.uint64] | None = None,
        *,
        cancelled: Callable[[], bool] = never,
        report: Callable[[Stage, float], None] = silent,
    ) -> ProverSums:
        """Run the stages of one proof and return the raw sums.

        `witness` is (wires, 4), plain and canonical; `a` and `b` are (2**log_domain, 4), the
        constraint system's evaluations in Montgomery form, left as they are; without them the device
        evaluates the key's coefficients. `load` is called when the key is not resident. `report` hears
        each stage with its wall seconds.
        Raises Cancelled between stages and ValueError where shapes and key do not match.
        """
        ...

    def memory(self) -> DeviceMemory:
        """The budget and what resident keys and running proofs take of it."""
        ...

    def resident_keys(self) -> list[ResidentKey]:
        """The resident keys, least recently used first."""
        ...

    def take_faults(self) -> list[str]:
        """What was wrong with the hardware's own results since the last call, one text a proof.

        Whoever waited for such a proof got sums from the CPU instead.
        """
        ...

    def close(self) -> None:
        """Release everything; the device is not used afterwards."""
        ...


def open_device(name: str, budget_bytes: int | None = None, threads: int = 0) -> Device:
    """Open the device called `name`: "host", or "cuda:<ordinal>".

    `budget_bytes` bounds what resident keys take (None: a default of the device's),
    `threads` bounds the CPU threads of a host device (0: all that this process may use).
    Raises DeviceUnavailable with the reason where the device cannot be had.
    """
    if name == "host":
        from kernels.host import HostDevice  # noqa: PLC0415 - host imports this module

        return HostDevice(budget_bytes=budget_bytes, threads=threads)
    kind, _, ordinal = name.partition(":")
    if kind == "cuda" and ordinal.isdecimal():
        from kernels.cuda.device import open_cuda_device  # noqa: PLC0415 - only where a GPU is asked for

        return open_cuda_device(int(ordinal), budget_bytes=budget_bytes, threads=threads)
    raise DeviceUnavailable(f'no device is called "{name}": use host or cuda:<ordinal>')


def visible_devices() -> list[str]:
    """The GPUs that this process may use, as `open_device` calls them; CUDA is asked only if there is one.

    Raises DeviceUnavailable where there is one that cannot be used.
    """
    from kernels.cuda.cupy_driver import device_count  # noqa: PLC0415 - as above

    return [f"cuda:{ordinal}" for ordinal in range(device_count())]
