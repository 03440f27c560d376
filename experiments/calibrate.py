"""How likely did one terminal run succeed, without siblings? Fits the probability of `data/selectors/terminal.toml`.

    python experiments/calibrate.py --fit tb2/forgecode --measure demo --measure tau/airline-gpt4o -o terminal.toml

`bestofn fit --kind gate-shortest --probability beta` makes the same of any labelled pools; this keeps the command of
the file that ships. Names are looked up as everywhere (`BESTOFN_POOLS`). The pools' recordings stay where they are:
weights, the calibration and out-of-fold probabilities are all that is written.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import bestofn
from bestofn.calibrating import COLUMNS, KIND_COLUMNS, with_probability
from bestofn.cli.fitted import fitted_shown
from bestofn.pooling import PooledFit
from bestofn.selector import baseline
from bestofn.table import FeatureTable

NOTE = (
    "For agents that work in a terminal. One labelled pool of such agents with recorded content was at hand, so this "
    "is one harness and one model: [probability.measured] says how good it is on tasks left out, "
    "[[probability.elsewhere]] what is left of that on other kinds of runs. To rank attempts of one task it is the "
    "rule gate-shortest."
)


def main(arguments: list[str]) -> None:
    """Fit, measure, write, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", action="append", required=True, metavar="POOL", help="fit on this labelled pool")
    parser.add_argument("--measure", action="append", default=[], metavar="POOL", help="measure on it, do not fit")
    parser.add_argument("--calibration", choices=("beta", "isotonic"), default="beta")
    parser.add_argument("--name", default="terminal")
    parser.add_argument("--note", default=NOTE)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args(arguments)
    tables = {name: table(name) for name in given.fit}
    rule = replace(baseline("gate-shortest"), name=given.name, note=given.note)
    selector = with_probability(
        rule, tables, calibration=given.calibration, elsewhere={name: table(name) for name in given.measure}
    )
    command = ["python experiments/calibrate.py", *(f"--fit {name}" for name in given.fit)]
    command += [*(f"--measure {name}" for name in given.measure), f"--calibration {given.calibration}"]
    bestofn.write_selector(selector, given.output, created_by=" ".join(command))
    print(fitted_shown(PooledFit(selector, ()), given.output))


def table(name: str) -> FeatureTable:
    """The columns that the model looks at."""
    return bestofn.score_pool(bestofn.load_pool(name), columns=(*COLUMNS, *KIND_COLUMNS), jobs=1).table


if __name__ == "__main__":
    main(sys.argv[1:])
