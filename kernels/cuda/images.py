"""Modules as images that a device loads: compiled once for an architecture, then read from the disk."""

from collections.abc import Callable

from kernels.cubins import CubinCache, default_folder
from kernels.modules import OPTIONS, Module
from kernels.nvrtc import read_program


def compiled_images(cache: CubinCache | None = None) -> Callable[[Module, str], bytes]:
    """The function that gives the image of a module for an architecture ("sm_90").

    It raises kernels.nvrtc.NvrtcUnavailable and CompileFailed.
    """
    kept = cache or CubinCache(default_folder())

    def image(module: Module, architecture: str) -> bytes:
        program = read_program(module.source, (*OPTIONS, *module.options))
        return kept.compile(program, architecture).image

    return image
