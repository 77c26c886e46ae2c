"""An interpreter for the PTX that NVRTC makes: device code executed, bit for bit, where there is no GPU.

`parse` reads the text, `flow` cuts it into basic blocks, `translate` turns a block into one numpy function
over all threads that are at it (`integer_code`, `memory_code`, `operations`), `schedule` runs blocks,
barriers and warps, `memory` checks every access, and `races` knows who touched what since which barrier.
"""

from tests.support.ptx.machine import Machine, Report
from tests.support.ptx.parse import Fault, Module, parse

__all__ = ["Fault", "Machine", "Module", "Report", "parse"]
