"""A clock of the day for some processes, which the test sets while they run."""

import shutil
import struct
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("clock.c")


class Clock:
    """What `environment` is given to, tells the time of the machine plus `step` seconds."""

    def __init__(self, folder: Path, compiler: str) -> None:
        self._step = folder / "clock"
        library = folder / "clock.so"
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", SOURCE, "-o", library], check=True)
        self.step(0.0)
        self.environment = {"LD_PRELOAD": str(library), "CUZKWEB_CLOCK_STEP": str(self._step)}

    def step(self, seconds: float) -> None:
        """From now on the clock is so far off."""
        with self._step.open("r+b" if self._step.exists() else "wb") as file:
            file.write(struct.pack("d", seconds))


def make_clock(folder: Path) -> Clock | None:
    """A clock, where there is a C compiler."""
    compiler = shutil.which("cc")
    return Clock(folder, compiler) if compiler else None
