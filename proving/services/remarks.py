"""What people should know of a circuit before they rely on it."""

from __future__ import annotations

from proving.choices import KINDS, ProofKind
from proving.models import Circuit


def remarks(circuit: Circuit) -> list[str]:
    """One line each; none for a circuit that has nothing against it."""
    found = []
    if circuit.insecure:
        found.append("insecure development key: one machine knew the secrets that forge proofs")
    elif not circuit.contributions:
        found.append("no phase-2 contribution on record: whoever made the key may know its secrets")
    wanted = KINDS[ProofKind(circuit.proof_kind)].public_inputs
    if wanted is not None and wanted != circuit.public_count:
        kind = circuit.proof_kind
        found.append(
            f"{kind} circuits for 32 GiB sectors have {wanted} public inputs, this one {circuit.public_count}"
        )
    return found
