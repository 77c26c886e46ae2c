"""The long storm: `python -m tests.benchmarks.chaos [--partitions 1000] [--seconds 900] [--pause 2]`.

Jobs of twenty partitions of the demo circuit, on Debian's Redis and PostgreSQL, while a fault of a random
kind begins every `pause` seconds. See docs/chaos.md.
"""

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.support.chaos.site import running_site
from tests.support.chaos.storm import storm

A_JOB = 20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=900.0)
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between two faults")
    parser.add_argument("--lease", type=float, default=5.0, help="CUZKWEB_LEASE_SECONDS of the service")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to stop"))
    lease = {"CUZKWEB_LEASE_SECONDS": str(options.lease)}
    with (
        tempfile.TemporaryDirectory(prefix="storm-") as folder,
        running_site(Path(folder) / "home", **lease) as site,
    ):
        found = storm(
            site,
            Path(folder) / "keys",
            partitions=options.partitions,
            a_job=A_JOB,
            seconds=options.seconds,
            pause=options.pause,
            seed=options.seed,
            say=lambda text: print(f"{time.strftime('%H:%M:%S')} {text}", flush=True),
        )
    print(found)
    print(found.table())
    for name, count in sorted(found.idle.items()):
        print(f"{name}: {count} times there was nothing to do it to")
    for wrong in found.wrong:
        print("WRONG:", wrong)
    return 1 if found.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
