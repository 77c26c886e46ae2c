"""When memory runs out the answer is MemoryError, not the end of the process."""

import subprocess
import sys

import pytest

from kernels import engine

PROGRAM = """
import resource, sys
import numpy as np
from kernels import engine
from kernels.curves import BN254, Group
from kernels.msm import Bases
from kernels.ntt import ntt
from kernels.points import fixed_base_multiply, from_integers

engine.use(sys.argv[1])
points = np.zeros((1 << 19, 8), dtype=np.uint64)
data = np.zeros((1 << 20, 4), dtype=np.uint64)
address_space = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (address_space + (8 << 20), resource.RLIM_INFINITY))
for work in (lambda: Bases(BN254, Group.G1, points, threads=2), lambda: ntt(BN254, data, threads=2)):
    try:
        work()
    except MemoryError:
        print("MemoryError")
base = from_integers(BN254, Group.G1, BN254.g1)
print(len(fixed_base_multiply(BN254, Group.G1, base, data[:10], threads=2)))
"""


@pytest.mark.parametrize("name", engine.available())
def test_running_out_of_memory_is_an_exception(name: str) -> None:
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, name], capture_output=True, text=True, check=False, timeout=60
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == ["MemoryError", "MemoryError", "10"]
