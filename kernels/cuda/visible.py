"""Whether this machine has NVIDIA GPUs that this process may use, asked without any call of CUDA."""

import os
import sys
from pathlib import Path

HIDDEN = frozenset({"", "-1", "NoDevFiles"})


def gpu_is_visible(devices: Path = Path("/dev")) -> bool:
    """Whether there is a GPU's device node and the environment does not hide it."""
    if os.environ.get("CUDA_VISIBLE_DEVICES", "all").strip() in HIDDEN:
        return False
    return any(devices.glob("nvidia[0-9]*")) or (devices / "dxg").exists()


if __name__ == "__main__":
    sys.exit(not gpu_is_visible())
