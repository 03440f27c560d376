"""Peak memory of `bestofn select` as a pool grows: copies of a pool's attempts under new task names.

    python experiments/bench/bench_memory.py --pool tb2/forgecode --sizes 445 2000 10000

With a rule, an attempt leaves a row of a few numbers. What learns needs all columns of all attempts, and the digests by
which siblings are compared: `--selector forward` shows that.

The copies are real files in a temporary folder (about 100 kB an attempt), removed afterwards.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import shutil
import sys
import tempfile
from pathlib import Path

import orjson
from measure import run

from bestofn import load_pool


def grow(source: list[Path], root: Path, size: int) -> None:
    """Fill `root` with `size` attempts: the source's wrapped files with task and trial names made new."""
    for number in range(size):
        path = source[number % len(source)]
        record = orjson.loads(path.read_bytes())
        turn = number // len(source)
        record["task_name"] = f"{record.get('task_name', path.parent.name)}-{turn}"
        record["trial_name"] = f"trial-{number}"
        folder = root / record["task_name"]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"trial-{number}_trajectory.json").write_bytes(orjson.dumps(record))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pool", required=True, help="a pool of wrapped ATIF files to grow from")
    parser.add_argument("--sizes", type=int, nargs="+", default=[445, 2000, 10000], help="numbers of attempts")
    parser.add_argument("--selector", default="gate-shortest", help="selector (default: gate-shortest)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    source = sorted(Path(load_pool(options.pool).root).rglob("*_trajectory.json"))
    if not source:
        sys.exit(f"pool '{options.pool}' holds no *_trajectory.json files to grow from")
    rows = []
    for size in options.sizes:
        root = Path(tempfile.mkdtemp(prefix="bestofn-grow-"))
        try:
            # In a process of its own: a measured process begins with the peak of the one that started it.
            growing = multiprocessing.get_context("spawn").Process(target=grow, args=(source, root, size))
            growing.start()
            growing.join()
            done = run(
                [
                    sys.executable,
                    "-m",
                    "bestofn",
                    "select",
                    "--pool",
                    str(root),
                    "--quiet",
                    "--selector",
                    options.selector,
                ]
            )
        finally:
            shutil.rmtree(root)
        rows.append({"trajectories": size, "peak_mb": done.peak_mb, "seconds": done.seconds})
        if not options.json:
            print(f"{size:>7} trajectories: peak {done.peak_mb:.0f} MB, {done.seconds:.2f} s", flush=True)
    ratio = rows[-1]["peak_mb"] / rows[0]["peak_mb"]
    if options.json:
        print(json.dumps({"rows": rows, "ratio": ratio}, indent=2))
    else:
        print(f"peak memory at {rows[-1]['trajectories']} over {rows[0]['trajectories']}: {ratio:.2f}")


if __name__ == "__main__":
    main()
