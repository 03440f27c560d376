"""`bestofn select` as a whole process against bare reading and orjson-parsing of the same files.

    python experiments/bench/bench_select.py --pool tb2/forgecode

Prints the ratio of median wall times, alternated in one run, and the start-up time of `bestofn --help`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from measure import alternate, middle, middle_cpu

from bestofn import load_pool

BARE = """
import os, sys
import orjson
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        if name.endswith((".json", ".jsonl")):
            with open(os.path.join(folder, name), "rb") as file:
                raw = file.read()
            if name.endswith(".jsonl"):
                for line in raw.splitlines():
                    orjson.loads(line)
            else:
                orjson.loads(raw)
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pool", default="demo", help="pool to select from (default: demo)")
    parser.add_argument("--rounds", type=int, default=7, help="counted runs of each command (default: 7)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()

    root = Path(load_pool(options.pool).root)
    python = sys.executable
    select = [python, "-m", "bestofn", "select", "--pool", options.pool, "--quiet"]
    bare = [python, "-c", BARE, str(root)]
    helps = [python, "-m", "bestofn", "--help"]
    selecting, reading, helping = alternate([select, bare, helps], options.rounds)
    figures = {
        "pool": options.pool,
        "select_seconds": middle(selecting),
        "bare_seconds": middle(reading),
        "ratio": middle(selecting) / middle(reading),
        "cpu_ratio": middle_cpu(selecting) / middle_cpu(reading),
        "select_peak_mb": max(r.peak_mb for r in selecting),
        "help_seconds": middle(helping),
        "rounds": options.rounds,
    }
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    print(
        f"bestofn select --pool {options.pool}: {figures['select_seconds']:.3f} s, "
        f"peak {figures['select_peak_mb']:.0f} MB"
    )
    print(f"reading and parsing the same files:  {figures['bare_seconds']:.3f} s")
    print(
        f"ratio: {figures['ratio']:.1f} by the wall clock, {figures['cpu_ratio']:.1f} in processor time "
        f"(medians of {options.rounds} alternated runs)"
    )
    print(f"bestofn --help: {figures['help_seconds']:.3f} s")


if __name__ == "__main__":
    main()
