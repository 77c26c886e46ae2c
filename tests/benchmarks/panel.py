#!/usr/bin/env python3
"""What a crowd costs the panel: standing open, new documents and a scroll, beside what a few jobs cost it.

    tests/benchmarks/panel.py [--jobs 1000] [--seconds 8]

Each job has 16 partitions, every one sent whole, which the service itself does not do past a few hundred.
Times are processor times of the page's main thread, by the DevTools protocol, so that other work on the
machine shows little. Needs a Chromium on PATH.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cuzkweb.settings")

import django

django.setup()

from tests.browser.chromium import Page, chromium, find_chromium  # noqa: E402
from tests.browser.documents import BUSY_AT, busy_afternoon  # noqa: E402
from tests.browser.scheduler import Document  # noqa: E402
from tests.browser.stage import Stage  # noqa: E402

PARTITIONS = 16
SCROLL = """new Promise(resolve => {
    const began = performance.now();
    let frames = 0;
    const step = now => {
        scrollBy(0, 120);
        frames += 1;
        if (frames < 120 && now - began < 20000) requestAnimationFrame(step);
        else resolve(frames);
    };
    requestAnimationFrame(step);
})"""


def crowd(jobs: int) -> Document:
    """`jobs` jobs of 16 partitions in all states, each whole."""
    now = time.time()
    document = busy_afternoon(now - BUSY_AT).document(BUSY_AT)
    models = [job for job in document["pipelines"] if job["total_partitions"] == PARTITIONS]
    made = []
    for number, model in zip(range(jobs), itertools.cycle(models)):
        made.append({**copy.deepcopy(model), "job_id": f"ps-snap-1000-{number}-4711"})
    workers = [
        {**w, "state": "idle", "current_job": None, "current_partition": None}
        for w in document["gpu_workers"]
    ]
    for job in made:
        for partition in job["partitions"]:
            if partition["state"] == "gpu":
                partition["state"] = "finalizing"
    return {**document, "pipelines": made, "gpu_workers": workers}


def measured(page: Page) -> dict[str, float]:
    found = page.send("Performance.getMetrics")["metrics"]
    return {metric["name"]: metric["value"] for metric in found}


WAIT = "new Promise(resolve => setTimeout(() => resolve({:g}), {:g}))"


def spent(page: Page, doing: str) -> dict[str, float]:
    """Milliseconds of the main thread for each of the steps that `doing` counts: seconds, or frames."""
    before = measured(page)
    steps = page.evaluate(doing)
    after = measured(page)
    return {name: 1000 * (after[name] - before[name]) / steps for name in ("TaskDuration", "ScriptDuration")}


def run(jobs: int, seconds: float) -> dict[str, Any]:
    document = crowd(jobs)
    began = time.monotonic()

    def moving() -> Document:
        passed = time.monotonic() - began
        return {**document, "rev": int(passed), "generated_at": document["generated_at"] + passed}

    executable = find_chromium()
    if executable is None:
        sys.exit("no Chromium on PATH")
    with chromium(executable) as browser, Stage(document) as stage:
        page = browser.new_page(1440, 900)
        page.send("Performance.enable", timeDomain="threadTicks")
        page.open(stage.url)
        page.wait("document.body.dataset.ready === ''", 60)
        wait = WAIT.format(seconds, 1000 * seconds)
        still, scroll = spent(page, wait), spent(page, SCROLL)
        nodes = page.evaluate("document.querySelectorAll('*').length")
        stage.document = moving
        return {"elements": nodes, "still": still, "scroll": scroll, "moving": spent(page, wait)}


WORDS = {
    "still": "ms a second while nothing changes",
    "moving": "ms a second with a new document each second",
    "scroll": "ms a frame of scrolling",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    for jobs in (6, options.jobs):
        found = run(jobs, options.seconds)
        print(f"{jobs} jobs, {found['elements']} elements")
        for what, words in WORDS.items():
            times = found[what]
            print(f"  {times['TaskDuration']:6.1f} {words}, {times['ScriptDuration']:.1f} of it script")


if __name__ == "__main__":
    main()
