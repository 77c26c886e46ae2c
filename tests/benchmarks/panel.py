#!/usr/bin/env python3
"""What a crowd costs the panel: standing open, new documents and a scroll, beside what a few jobs cost it.

    tests/benchmarks/panel.py [--jobs 1000] [--seconds 8]

Each job has 16 partitions, every one sent whole, which the service itself does not do past a few hundred.
Times are the browser's own, by the DevTools protocol. They are those of this machine; the ratio says what
growing costs. Needs a Chromium on PATH.
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
LONG_TASKS = """
    window.long = [];
    new PerformanceObserver(list => long.push(...list.getEntries().map(entry => entry.duration)))
        .observe({type: 'longtask'});
"""
SCROLL = """new Promise(resolve => {
    const frames = [];
    const began = performance.now();
    let last = null;
    const step = now => {
        if (last !== null) frames.push(now - last);
        last = now;
        scrollBy(0, 120);
        if (frames.length < 120 && now - began < 15000) requestAnimationFrame(step);
        else resolve(frames.sort((a, b) => a - b));
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


def spent(page: Page, seconds: float) -> dict[str, Any]:
    """Milliseconds of the main thread in a second of standing open, and its long tasks."""
    page.evaluate("long.length = 0; true")
    before = measured(page)
    page.evaluate(f"new Promise(resolve => setTimeout(resolve, {seconds * 1000}))")
    after = measured(page)
    names = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration", "TaskDuration")
    told = {name: 1000 * (after[name] - before[name]) / seconds for name in names}
    return {**told, "long": page.evaluate("long.slice()")}


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
        page.before_load(LONG_TASKS)
        page.send("Performance.enable")
        page.open(stage.url)
        page.wait("document.body.dataset.ready === ''", 60)
        still = spent(page, seconds)
        frames = page.evaluate(SCROLL)
        stage.document = moving
        return {
            "nodes": page.evaluate("document.querySelectorAll('*').length"),
            "still": still,
            "moving": spent(page, seconds),
            "frames": frames,
        }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    few, many = (run(jobs, options.seconds) for jobs in (6, options.jobs))
    for name, found in (("6 jobs", few), (f"{options.jobs} jobs", many)):
        print(f"{name}: {found['nodes']} elements")
        for what in ("still", "moving"):
            times = found[what]
            long = ", ".join(f"{ms:.0f}" for ms in times["long"]) or "none"
            print(
                f"  {what}: {times['TaskDuration']:.0f} ms a second on the main thread, "
                f"{times['ScriptDuration']:.0f} of it script; tasks over 50 ms: {long}"
            )
        frames = found["frames"]
        print(
            f"  scrolling: frames of {frames[len(frames) // 2]:.1f} ms in the middle, "
            f"{frames[int(len(frames) * 0.99)]:.1f} ms at 99 %"
        )
    for what in ("still", "moving"):
        print(f"{what}: {many[what]['TaskDuration'] / few[what]['TaskDuration']:.1f} times as much work")


if __name__ == "__main__":
    main()
