"""How much of forward selection's figure is the protocol? Reported on its own tasks, nested, under shuffled labels and
among features that are pure noise.

    python experiments/protocol.py --pool demo
"""

from collections.abc import Iterator

import numpy as np

from bestofn.ablation import Chart, Experiment, Lacking, Piece, PValue, Series, Setting, Share, Sheet, Subject
from bestofn.ablation.finding import Cell
from bestofn.ablation.noise import noise_accuracies
from bestofn.ablation.recipe import bank, forward, heuristics, oracle, reweight, rule
from bestofn.metrics import mean_over_tasks
from bestofn.permutation import null_accuracies, null_of

CANDIDATES = {"the default bank": bank("default"), "all heuristics": heuristics}
NOISE = (20, 27, 50, 95)
"""Numbers of noise columns: the paper's heuristics; with its 7 LLM features; and larger banks."""
ARMS = (
    rule("random"),
    rule("gate-shortest"),
    *(forward(f"{name}, as published", columns, optimistic=True) for name, columns in CANDIDATES.items()),
    *(forward(f"{name}, nested", columns) for name, columns in CANDIDATES.items()),
    reweight("all heuristics, nothing selected", heuristics),
    oracle(),
)


def run(setting: Setting) -> Iterator[Piece]:
    """The protocol's figures, then what chance gives under the same protocol."""
    for subject in setting.subjects:
        yield setting.compare(subject, ARMS, reference="random", title="forward selection, published and nested")
        yield shuffled(setting, subject)
        yield from noise(setting, subject)


def shuffled(setting: Setting, subject: Subject) -> Sheet:
    """The whole selection repeated under labels shuffled within swing tasks."""
    rows: list[tuple[Cell, ...]] = []
    for name, columns in CANDIDATES.items():
        try:
            fit = subject.fits(columns(subject), setting.max_features).forward
        except Lacking as lacking:
            rows.append((f"{name}: {lacking.why}", 0, None, None, None, None))
            continue
        null = null_accuracies(
            subject.table,
            fit.columns,
            permutations=setting.permutations,
            seed=setting.seed,
            max_features=setting.max_features,
        )
        nested = mean_over_tasks(subject.by_task(fit.held_out_scores(subject.table)))
        for what, observed, found in (
            ("as published", fit.optimistic, null.optimistic),
            ("nested", nested, null.nested),
        ):
            cells: tuple[Cell, ...] = (f"{name}, {what}", len(fit.columns), Share(observed))
            if found is None:  # too dear to repeat
                rows.append((*cells, None, None, None))
            else:
                beside = null_of(what, observed, found)
                rows.append((*cells, Share(beside.mean), Share(beside.p95), PValue(beside.p_value)))
    return Sheet(
        f"{subject.name}: labels shuffled within swing tasks, {setting.permutations} times",
        ("forward selection among", "candidates", "observed", "shuffled, mean", "95th percentile", "p"),
        tuple(rows),
    )


def noise(setting: Setting, subject: Subject) -> Iterator[Piece]:
    """The true labels, and nothing but noise to choose among."""
    rows: list[tuple[Cell, ...]] = []
    lines: dict[str, list[tuple[float, ...]]] = {"as published": [], "nested": []}
    for size in NOISE:
        draws = setting.each(range(setting.permutations), f"{size} noise features")
        found = noise_accuracies(subject, size, draws, seed=setting.seed, max_features=setting.max_features)
        reached = float((found.optimistic >= subject.figures.oracle - 1e-9).mean())
        published, nested = (_spread(values) for values in found)
        rows.append((size, *map(Share, published[1:]), Share(reached), *map(Share, nested[1:])))
        lines["as published"].append((size, *published))
        lines["nested"].append((size, *nested))
    yield Sheet(
        f"{subject.name}: forward selection among pure noise, {setting.permutations} draws",
        ("candidates", "published, mean", "95th percentile", "reach the oracle", "nested, mean", "95th percentile"),
        tuple(rows),
        "the true labels; columns of normal noise in place of the features",
    )
    flat = (("Pass@1", subject.figures.pass_at_1), ("oracle", subject.figures.oracle))
    yield Chart(
        f"noise-{setting.subjects.index(subject) + 1}",
        f"{subject.name}: selection among noise",
        "candidate features, all noise",
        "accuracy",
        (
            *(
                Series(f"noise, {name}", *(tuple(float(v) for v in column) for column in _columns(points)))
                for name, points in lines.items()
            ),
            *(Series(name, (float(NOISE[0]), float(NOISE[-1])), (value, value)) for name, value in flat),
        ),
        "Mean over draws; bands from the 5th to the 95th percentile.",
    )


def _spread(values: np.ndarray) -> tuple[float, float, float]:
    low, high = np.quantile(values, [0.05, 0.95]).tolist()
    return low, float(np.sort(values).mean()), high


def _columns(points: list[tuple[float, ...]]) -> Iterator[tuple[float, ...]]:
    """x, y, low, high out of rows of (x, low, y, high)."""
    x, low, y, high = zip(*points, strict=True)
    yield from (x, y, low, high)


EXPERIMENT = Experiment(
    name="protocol",
    question="How much of forward selection's figure comes from reporting it on the tasks it was selected on?",
    source="AdaMAST, section 3.5 (selection under leave-one-task-out); our own finding on it",
    arms=ARMS,
    run=run,
)

if __name__ == "__main__":
    import sys

    from bestofn.cli import run as command

    sys.exit(command(["ablate", __file__, *sys.argv[1:]]))
