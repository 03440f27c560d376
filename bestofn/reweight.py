"""A shrunk linear re-weighting of within-task ranks, and every leave-one-task-out version of it, in closed form.

With z the ranks and y the outcomes (both centred within their tasks) and d the direction each column is expected to
have, the weights are s * d + b. The slope s >= 0 is that of y on the sum of all ranks in their expected directions;
b, what the labels add to it, minimises |y - z (s d + b)|^2 + penalty * |b|^2.

The penalty is PRIOR_TASKS times the mean sum(z ** 2) per swing task and column, whatever the pool: no search for it.
A fit without a task solves the totals less that task's own sums, all such systems in one call.
"""

from __future__ import annotations

import numpy as np

from bestofn.metrics import Floats, Ints
from bestofn.ranks import WEIGHT_BITS, snap
from bestofn.swing import NOWHERE, SQUARE_BITS, SwingTasks

PRIOR_TASKS = 50
"""How many swing tasks the expected directions weigh as much as: the upper end of the 20 to 50 from which learning on
a pool's own tasks was seen to overtake what was expected. Fixed, and never tuned on a pool."""
ELEMENTS = 2_000_000
"""Elements of the systems of equations that are held at a time."""


def reweighted(swing: SwingTasks, directions: Floats) -> Floats:
    """(S + 1, K) weights: fitted without each swing task in turn, then on all of them.

    `directions` is (K,): +1, -1 or 0. Columns that are constant within every training task get 0; where nothing can be
    learned at all the weights are the directions.
    """
    _, k, s = swing.shape
    weights = np.empty((s + 1, k))
    folds = np.array([*range(s), NOWHERE])
    products, _ = swing.without(folds)
    at_once = max(1, ELEMENTS // max(1, k * k))
    parts = [slice(begin, begin + at_once) for begin in range(0, s + 1, at_once)]
    total = np.zeros((k, k))
    for part in parts:
        total += _grams(swing, folds[part]).sum(axis=0)
    informs = np.append(swing.informs, False)
    for part in parts:
        others = informs.sum() - informs[folds[part]]
        weights[part] = _solved(total - _grams(swing, folds[part]), products[part], directions, others)
    return weights


def _grams(swing: SwingTasks, folds: Ints) -> Floats:
    """(P, K, K) each task's own products of columns, ranks taken from their mean; 0 for NOWHERE."""
    real = folds != NOWHERE
    grams = np.zeros((len(folds), swing.shape[1], swing.shape[1]))
    ranks = np.where(swing.trains & swing.informs, swing.ranks.transpose(1, 0, 2), 0.0)[:, :, folds[real]]
    sums = ranks.sum(axis=1).T
    count = np.maximum(swing.trains.sum(axis=0), 1)[folds[real]]
    raw = ranks.transpose(2, 0, 1) @ ranks.transpose(2, 1, 0)
    grams[real] = snap(raw - sums[:, :, None] * sums[:, None, :] / count[:, None, None], SQUARE_BITS)
    return grams


def _solved(grams: Floats, products: Floats, directions: Floats, tasks: Ints) -> Floats:
    """(P, K) weights of P systems, on their grid; their largest is 1."""
    norms = np.einsum("pkk->pk", grams)
    varies = norms > 0
    toward = grams @ directions
    slope = np.maximum(_divided(products @ directions, toward @ directions), 0.0)[:, None]
    penalty = PRIOR_TASKS * _divided(norms.sum(axis=1), (varies.sum(axis=1) * tasks).astype(np.float64))
    systems = grams + np.where(penalty > 0, penalty, 1.0)[:, None, None] * np.eye(len(directions))
    learned = np.linalg.solve(systems, (products - slope * toward)[:, :, None])[:, :, 0]
    weights = np.where(varies.any(axis=1)[:, None], (slope * directions + learned) * varies, directions)
    largest = np.abs(weights).max(axis=1, initial=0.0)[:, None]
    return snap(np.divide(weights, largest, out=np.zeros_like(weights), where=largest > 0), WEIGHT_BITS)


def _divided(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient, 0 where there is nothing to divide by."""
    out: Floats = np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
    return out
