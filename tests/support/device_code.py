"""The device's modules, compiled as they are shipped; what was compiled is kept for the next run."""

from functools import cache

from kernels import modules, nvrtc
from kernels.cubins import CubinCache, default_folder
from kernels.curves import CURVES, Group
from kernels.modules import Module
from kernels.nvrtc import Compiled, Program
from tests.support import ptx

TARGETS = ("sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
EXECUTED = "compute_80"
TELL_USAGE = "--ptxas-options=-v"


def all_modules() -> list[Module]:
    """Every module of the device, the cheapest to compile first."""
    sums = [modules.sums(curve, group) for group in Group for curve in CURVES]
    simple = [make(curve) for make in (modules.polynomials, modules.arithmetic) for curve in CURVES]
    return [modules.digits(), *simple, *sums]


def program(module: Module) -> Program:
    """The module's texts and options; the assembler tells what registers and stack it uses."""
    return nvrtc.read_program(module.source, (*modules.OPTIONS, *module.options, TELL_USAGE))


def compiled(module: Module, target: str) -> Compiled:
    """The module compiled for an architecture, from the user's cache where it is there."""
    return CubinCache(default_folder()).compile(program(module), target)


@cache
def _text(name: str) -> str:
    module = next(module for module in all_modules() if module.name == name)
    return compiled(module, EXECUTED).image.decode()


@cache
def _parsed(name: str) -> ptx.Module:
    return ptx.parse(_text(name))


def ptx_text(module: Module) -> str:
    """The PTX that NVRTC makes of the module."""
    return _text(module.name)


def ptx_module(module: Module) -> ptx.Module:
    """The same, read."""
    return _parsed(module.name)
