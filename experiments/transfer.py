"""Does what other pools teach work on a pool that was never seen? Leave one pool out.

python experiments/transfer.py --pool tb2/forgecode --pool tau/airline-gpt4o --pool ag2/gsmplus-gpt4
"""

from collections.abc import Iterator

import numpy as np

from bestofn.ablation import Comparison, Experiment, Piece, Points, PValue, Setting, Share, Sheet
from bestofn.ablation.elsewhere import prior
from bestofn.ablation.recipe import bank, forward, heuristics, oracle, reweight, rule
from bestofn.ablation.significance import exchange_p, holm

REFERENCE = "gate-shortest"
ARMS = (
    rule("random"),
    rule("gate"),
    rule("shortest"),
    rule(REFERENCE),
    prior("prior, reweight", "reweight"),
    prior("prior, reweight, default bank", "reweight", bank("default")),
    prior("prior, forward", "forward"),
    reweight("own labels, reweight", heuristics),
    forward("own labels, forward", heuristics),
    oracle(),
)


def run(setting: Setting) -> Iterator[Piece]:
    """Each pool with what the others teach; then all pools together."""
    found: list[Comparison] = []
    outcomes: dict[str, list[np.ndarray]] = {recipe.name: [] for recipe in ARMS}
    weights: list[np.ndarray] = []
    for subject in setting.subjects:
        arms = [recipe.arm(setting, subject) for recipe in setting.each(ARMS, f"learning for {subject.name}")]
        found.append(setting.compare(subject, arms, reference=REFERENCE, title="left out"))
        yield found[-1]
        known = ~np.isnan(subject.rates)
        weights.append(np.full(int(known.sum()), 1.0 / (len(setting.subjects) * int(known.sum()))))
        for arm in arms:
            outcomes[arm.name].append(arm.by_task[known])
    yield together(setting, found, outcomes, np.concatenate(weights))


def together(
    setting: Setting, found: list[Comparison], outcomes: dict[str, list[np.ndarray]], weights: np.ndarray
) -> Sheet:
    """Mean over pools, each pool weighing the same."""
    joined = {name: np.concatenate(parts) for name, parts in outcomes.items()}
    told = [name for name, mine in joined.items() if not np.isnan(mine + joined[REFERENCE]).any() and name != REFERENCE]
    means = {name: float(((joined[name] - joined[REFERENCE]) * weights).sum()) for name in told}
    tested = [name for name in told if name not in ("random", "oracle")]
    ps = [exchange_p(joined[name], joined[REFERENCE], weights, seed=setting.seed) for name in tested]
    shown = {
        name: (PValue(p), None if corrected is None else PValue(corrected))
        for name, p, corrected in zip(tested, ps, holm(ps), strict=True)
    }
    rows = tuple(
        (
            recipe.name,
            *(Share(comparison.row(recipe.name).accuracy) for comparison in found),
            Points(means[recipe.name]) if recipe.name in means else None,
            *shown.get(recipe.name, (None, None)),
        )
        for recipe in ARMS
    )
    return Sheet(
        "all pools, each left out in turn",
        ("arm", *(comparison.pool for comparison in found), f"mean vs {REFERENCE}", "p", "Holm"),
        rows,
        "mean difference over pools, pools weighing the same; p with the picks of every task of all pools exchanged",
    )


EXPERIMENT = Experiment(
    name="transfer",
    question="Does a selector fitted on other pools work on a pool that it has never seen?",
    source="our own: the counterpart of the per-harness selector of AdaMAST, section 3.5",
    arms=ARMS,
    run=run,
    least_pools=2,
)

if __name__ == "__main__":
    import sys

    from bestofn.cli import run as command

    sys.exit(command(["ablate", __file__, *sys.argv[1:]]))
