"""How likely did one terminal run succeed, without siblings? Fits the probability of `data/selectors/terminal.toml`.

    python experiments/calibrate.py --fit tb2/forgecode --measure demo --measure tau/airline-gpt4o -o terminal.toml

Names are looked up as everywhere (`BESTOFN_POOLS`). The pools' recordings stay where they are: weights, the
calibration and out-of-fold probabilities are all that is written.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import bestofn
from bestofn.calibrating import COLUMNS, KIND_COLUMNS, fit_probability
from bestofn.selector import FittedOn, Selector, Term
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
    found = fit_probability(
        tables, calibration=given.calibration, elsewhere={name: table(name) for name in given.measure}
    )
    selector = Selector(
        given.name,
        gate=True,
        terms=(Term("n_characters", -1.0),),
        fitted_on=tuple(fitted_on(name, rows) for name, rows in tables.items()),
        note=given.note,
        probability=found,
    )
    command = ["python experiments/calibrate.py", *(f"--fit {name}" for name in given.fit)]
    command += [*(f"--measure {name}" for name in given.measure), f"--calibration {given.calibration}"]
    bestofn.write_selector(selector, given.output, created_by=" ".join(command))
    print(found.caveat())
    for row in (found.measured, *found.reliability, *found.conformal.measured, *found.elsewhere):
        print(row)


def table(name: str) -> FeatureTable:
    """The columns that the model looks at."""
    return bestofn.score_pool(bestofn.load_pool(name), columns=(*COLUMNS, *KIND_COLUMNS), jobs=1).table


def fitted_on(name: str, rows: FeatureTable) -> FittedOn:
    """One pool, for the file."""
    from bestofn.metrics import pool_figures

    figures = pool_figures(rows.rewards, rows.groups)
    return FittedOn(name, rows.digest, figures.n_tasks, len(rows), figures.n_swing)


if __name__ == "__main__":
    main(sys.argv[1:])
