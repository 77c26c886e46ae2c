"""Run one command and say what it cost: measured.py REPORT COMMAND...

A script for `python -I -S` that imports nothing: Linux counts the memory of the process that forks into the
peak of the one that is forked, so the one that forks has to be small.
"""

import json
import os
import sys
import time


def main(report: str, *command: str) -> None:
    """Run the command and write wall and CPU seconds, peak bytes and exit code to the file `report`."""
    started = time.monotonic()
    process = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(process, 0)
    cost = {
        "wall": time.monotonic() - started,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * 1024,
        "code": os.waitstatus_to_exitcode(status),
    }
    with open(report, "w", encoding="utf-8") as handle:  # noqa: PTH123 - pathlib would make it larger
        json.dump(cost, handle)


if __name__ == "__main__":
    main(*sys.argv[1:])
