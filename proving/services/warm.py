"""Compiling large witness generators outside of the request that brings them."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

from django.conf import settings

from proving.models import Circuit
from proving.services.given import is_large
from proving.synthesis.confined import ConfinedGenerator
from proving.synthesis.errors import SynthesisError

logger = logging.getLogger(__name__)


def compile_later(circuit: Circuit) -> threading.Thread | None:
    """Compile the circuit's generator into the cache of this host, in a thread of its own."""
    if circuit.witness_generator is None or not is_large(circuit.witness_generator.path):
        return None
    thread = threading.Thread(
        target=compile_now,
        args=(circuit.witness_generator.path, settings.CUZKWEB_HOME / "cache" / "wasm"),
        name="compile-generator",
        daemon=True,
    )
    thread.start()
    return thread


def compile_now(path: Path, cache: Path) -> None:
    """Compile one generator; a worker that comes first, or later, does the same."""
    try:
        ConfinedGenerator(path, cache_dir=cache)
    except (SynthesisError, OSError):
        logger.exception("a witness generator could not be compiled")
