"""The compiled kernels keep to their recorded budget of instructions, registers, stack and spills.

The record covers every module and every target; compiling all of that takes minutes, so that here the
record is held against the texts, and some modules that compile quickly. `make kernels-check` does all.
"""

import pytest

from kernels import modules
from kernels.curves import BN254, CURVES
from kernels.modules import Module
from tests.support import budgets, device_code
from tests.support.budgets import Usage

QUICK = [
    *((modules.digits(), target) for target in device_code.TARGETS),
    *((modules.polynomials(BN254), target) for target in ("sm_80", "sm_90")),
    *((modules.arithmetic(curve), "sm_90") for curve in CURVES),
]

LOG = """
ptxas info    : 40 bytes gmem, 72 bytes cmem[4]
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas info    : Function properties for first
ptxas         .     928 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 116 registers, used 1 barriers, 1056 bytes cumulative stack size
ptxas info    : Function properties for helper
ptxas         .     128 bytes stack frame, 16 bytes spill stores, 32 bytes spill loads
ptxas info    : Compiling entry function 'second' for 'sm_90'
ptxas info    : Function properties for second
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers
"""


def test_the_assemblers_log_is_read_with_what_is_called() -> None:
    assert budgets.usage(LOG) == {
        "first": Usage(116, 1056, 60),
        "second": Usage(40, 0, 0),
    }
    with pytest.raises(ValueError, match="log has changed"):
        budgets.usage(LOG.replace("registers", "registros"))


def test_more_than_was_recorded_is_told_and_less_is_not() -> None:
    recorded = {"k": {"registers": 40, "stack_bytes": 0, "spill_bytes": 0, "loop": 185}}
    assert budgets.overruns(recorded, {"k": Usage(40, 0, 0, 185)}) == []
    assert budgets.overruns(recorded, {"k": Usage(38, 0, 0, 180)}) == []
    assert budgets.overruns(recorded, {"k": Usage(41, 0, 0, 185)}) == ["k: 41 registers, 40 recorded"]
    assert budgets.overruns(recorded, {"k": Usage(40, 0, 8, 186)}) == [
        "k: 8 spill_bytes, 0 recorded",
        "k: 186 loop, 185 recorded",
    ]
    assert budgets.overruns({}, {"k": Usage(1, 0, 0)}) == ["k is not in the record"]
    assert budgets.overruns(recorded, {}) == ["k is in the record only"]


def test_the_record_is_of_the_texts_as_they_are_now() -> None:
    now = {module.name: budgets.text_digest(module) for module in device_code.all_modules()}
    assert budgets.recorded_digests() == now, "run `make kernels-record` and look at what it changes"


def test_the_record_covers_every_kernel_of_every_module_on_every_target() -> None:
    recorded = budgets.read_record()
    assert list(recorded) == [module.name for module in device_code.all_modules()]
    for module in device_code.all_modules():
        assert list(recorded[module.name]) == list(device_code.TARGETS)
        for kernels in recorded[module.name].values():
            assert set(kernels) == {kernel.name for kernel in module.kernels}


def test_a_block_of_every_kernel_fits_into_the_register_file() -> None:
    recorded = budgets.read_record()
    for module in device_code.all_modules():
        for kernels in recorded[module.name].values():
            for kernel in module.kernels:
                assert kernels[kernel.name]["registers"] * kernel.block <= 64 * 1024


def test_a_product_costs_what_it_may() -> None:
    """Instructions of a loop around one product, its counter included."""
    for name, targets in budgets.read_record().items():
        if name.startswith("arithmetic"):
            for kernels in targets.values():
                assert 150 < kernels["repeat_fr"]["loop"] <= 186
                assert 150 < kernels["repeat_fq"]["loop"] <= (374 if "bls" in name else 186)


@pytest.mark.parametrize(("module", "target"), QUICK, ids=lambda part: getattr(part, "name", part))
def test_what_compiles_quickly_keeps_to_the_record(module: Module, target: str) -> None:
    recorded = budgets.read_record()[module.name][target]
    assert budgets.overruns(recorded, budgets.measured(module, target)) == []
