"""Rendering a pool's runs for a judge against merely reading them, and against counting their tokens once.

    python experiments/bench/bench_rendering.py --pool tb2/forgecode --tokens 8000

Prints milliseconds a run and the two ratios, all taken in one process, run by run in turn.
"""

from __future__ import annotations

import argparse
import json
import time
from statistics import mean, median

from bestofn import load_pool
from bestofn.rendering.final_state import final_state
from bestofn.rendering.tokens import tokenizer
from bestofn.rendering.transcript import render


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pool", default="demo")
    parser.add_argument("--tokens", type=int, default=8000)
    arguments = parser.parse_args()
    table = tokenizer()
    taken: dict[str, list[float]] = {"read": [], "count": [], "render": [], "final_state": []}
    begin = time.perf_counter()
    for trajectory in load_pool(arguments.pool).stream():
        marks = [begin, time.perf_counter()]
        texts = [step.message + "".join(o.text for o in step.observations) for step in trajectory.steps]
        table.count("\n".join(texts))
        marks.append(time.perf_counter())
        render(trajectory, arguments.tokens)
        marks.append(time.perf_counter())
        final_state(trajectory, arguments.tokens)
        marks.append(time.perf_counter())
        for name, first, last in zip(taken, marks, marks[1:], strict=False):
            taken[name].append(last - first)
        begin = time.perf_counter()
    figures = {
        f"{name}_ms": {
            "mean": round(1000 * mean(seconds), 1),
            "median": round(1000 * median(seconds), 1),
            "max": round(1000 * max(seconds), 1),
        }
        for name, seconds in taken.items()
    }
    ratios = {f"render_over_{name}": round(sum(taken["render"]) / sum(taken[name]), 2) for name in ("read", "count")}
    print(json.dumps({"pool": arguments.pool, "runs": len(taken["read"]), **figures, **ratios}, indent=2))


if __name__ == "__main__":
    main()
