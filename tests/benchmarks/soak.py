"""The soak: `python -m tests.benchmarks.soak [--partitions 200] [--pause 3] [--seed 1]`.

Real workers on two devices prove jobs of twenty partitions while workers are killed at random. The status is
read twenty times a second or more, and every reading is held against the invariants.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.support.soak import soak
from tests.support.stack import running_stack


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", type=int, default=200)
    parser.add_argument("--pause", type=float, default=3.0, help="seconds between two kills, on average")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        home, devices = Path(folder) / "home", ("--device", "host", "--device", "host")
        with running_stack(home, "--no-flower", *devices, CUZKWEB_MAX_ATTEMPTS="100") as stack:
            found = soak(stack, Path(folder) / "keys", options.partitions, options.pause, options.seed)
    print(found)
    print("killed:", {name: found.kills.count(name) for name in sorted(set(found.kills))})
    for wrong in [*found.contradictions, *found.missing]:
        print(wrong)
    return 1 if found.contradictions or found.missing else 0


if __name__ == "__main__":
    sys.exit(main())
