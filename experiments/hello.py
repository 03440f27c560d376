"""The library on one screen: read a pool, make its feature table, pick the best attempt of each task, be honest.

python experiments/hello.py [POOL]
"""

from __future__ import annotations

import sys

import bestofn

pool = bestofn.load_pool(sys.argv[1] if len(sys.argv) > 1 else "demo")

# A pool streams: one trajectory in memory at a time, its label kept apart from its text.
first = next(pool.stream())
print(f"{first.id}: {len(first.steps)} steps, {first.label.kind}, {first.ending.state}, read from {first.origin}")

# Everything after this reads the table only: one row an attempt, one column a feature, NaN where nothing is known.
table = bestofn.score_pool(pool).table
print(f"{len(table)} attempts at {len(table.task_names)} tasks, {len(table.columns)} features")

# The pick of each task. With enough labelled tasks it comes from a selector fitted on the other tasks.
selection = bestofn.select(table)
print(f"policy: {selection.policy}")
for task in selection.tasks[:3]:
    print(f"{task.task}: {' or '.join(task.pick)}")

# How good is that? Leave one task out, nested, with intervals.
for row in bestofn.evaluate(table, null=0).rows:
    print(f"{row.selector:16} {row.accuracy:.3f}")
