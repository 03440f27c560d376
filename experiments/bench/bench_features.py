"""Pattern matching on a pool's texts: this project's RE2 matcher against Python's `re` on the same bank, in one run.

    python experiments/bench/bench_features.py --pool tb2/forgecode

Trajectories are in memory before the clock starts. `re` sees a share of them (--share), since all of them take minutes;
rates are in megabytes of text a second, each on what it saw, and the counts on that share must agree.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time

from bestofn import load_pool
from bestofn.featurize.bank import load
from bestofn.featurize.counting import Counting
from bestofn.featurize.feature import Feature, Value
from bestofn.featurize.reading import Reading


def size(reading: Reading, features: tuple[Feature, ...]) -> int:
    """Characters that the features' channels hold."""
    channels = {feature.channel for feature in features if feature.channel is not None}
    return sum(len(text.text) for channel in channels for text in reading.texts(channel))


def by_re(reading: Reading, feature: Feature, pattern: re.Pattern[str]) -> float:
    """A count feature's value, computed with Python's `re`."""
    assert feature.channel is not None
    if not reading.covers(feature.channel):
        return math.nan
    texts = reading.within(feature.channel, feature.where)
    return math.nan if texts is None else float(sum(sum(1 for _ in pattern.finditer(t.text)) for t in texts))


def main() -> None:
    """Measure, compare and print; exit with 1 where the counts differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pool", default="demo", help="pool whose texts are matched (default: demo)")
    parser.add_argument("--bank", default="default", help="feature bank (default: default)")
    parser.add_argument(
        "--share", type=float, default=0.2, help="share of the trajectories that `re` sees (default: 0.2)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()

    features = load(options.bank).features
    readings = [Reading.of(trajectory) for trajectory in load_pool(options.pool).stream()]
    for reading in readings:
        size(reading, features)  # texts are gathered once; neither side pays for that
    some = readings[:: max(1, round(1 / options.share))]

    counting = Counting(features)
    counting.values(readings[0])  # compiles
    begin = time.process_time()
    values = [counting.values(reading) for reading in readings]
    ours = time.process_time() - begin

    patterns = [re.compile(feature.pattern) for feature in features]
    counted = [i for i, feature in enumerate(features) if feature.value is Value.COUNT]
    begin = time.process_time()
    theirs_values = [[by_re(reading, features[i], patterns[i]) for i in counted] for reading in some]
    theirs = time.process_time() - begin

    step = max(1, round(1 / options.share))
    agree = all(
        mine[i] == value or (math.isnan(mine[i]) and math.isnan(value))
        for mine, row in zip(values[::step], theirs_values, strict=True)
        for i, value in zip(counted, row, strict=True)
    )
    megabytes = sum(size(reading, features) for reading in readings) / 1e6
    seen = sum(size(reading, features) for reading in some) / 1e6
    figures = {
        "pool": options.pool,
        "bank": options.bank,
        "patterns": len(features),
        "megabytes": megabytes,
        "re2_mb_per_s": megabytes / ours,
        "re_mb_per_s": seen / theirs,
        "times_faster": (megabytes / ours) / (seen / theirs),
        "counts_agree": agree,
    }
    if options.json:
        print(json.dumps(figures, indent=2))
    else:
        print(f"{len(features)} patterns of '{options.bank}' on {megabytes:.1f} MB of {options.pool}")
        print(f"RE2 here:    {figures['re2_mb_per_s']:.1f} MB/s")
        print(f"Python's re: {figures['re_mb_per_s']:.2f} MB/s on {seen:.1f} MB of them; counts agree: {agree}")
        print(f"ratio: {figures['times_faster']:.0f}")
    sys.exit(0 if agree else 1)


if __name__ == "__main__":
    main()
