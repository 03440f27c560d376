"""What the commands of `bestofn judge` share: options for the ways of asking, and how a plan is made of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bestofn.cli.asked import Asked

if TYPE_CHECKING:
    from bestofn.judge.comparing import Plan, Ways
    from bestofn.judge.diagnosis import Judgments
    from bestofn.judge.question import Method
    from bestofn.llm.cache import Cache
    from bestofn.llm.client import Client
    from bestofn.llm.request import Request
    from bestofn.pool import Pool

ModelOption = Annotated[
    str,
    typer.Option("--model", "-m", metavar="MODEL", help="The judge, as its server names it.", show_default=False),
]
FileOption = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.", show_default=False)
]
WaysOption = Annotated[
    str,
    typer.Option(
        "--methods",
        metavar="A,B,...",
        help="Ways of asking: judge (the criteria), verifier-round-robin, verifier-pivot, min-codes.",
    ),
]
RepeatsOption = Annotated[
    int, typer.Option("--repeats", min=1, metavar="K", help="Readings of each meeting and criterion of a verifier.")
]
PivotsOption = Annotated[
    int, typer.Option("--pivots", min=1, metavar="K", help="Leaders that everybody meets in verifier-pivot.")
]
VerifierOption = Annotated[
    str, typer.Option("--verifier-criteria", metavar="NAME|FILE", help="What the verifier's tournaments ask.")
]
CodesOption = Annotated[
    str, typer.Option("--codes-criteria", metavar="NAME|FILE", help="What min-codes asks: which codes a run shows.")
]
JudgmentsOption = Annotated[
    Path | None,
    typer.Option(
        "--judgments",
        metavar="FILE",
        help="Codes for min-codes from an AdaMAST judgments.json, instead of asking.",
        show_default=False,
    ),
]


def named(methods: str) -> list[str]:
    """The names in a list with commas."""
    return [name.strip() for name in methods.split(",") if name.strip()]


def read_ways(
    asked: Asked, verifier: str, diagnosis: str, judgments: Judgments | None, repeats: int, pivots: int
) -> Ways:
    """What each way of asking asks."""
    from bestofn.criteria import load
    from bestofn.judge.comparing import Ways

    return Ways(asked.criteria_sets(), load(verifier), load(diagnosis), judgments, repeats, pivots)


def read_methods(ways: Ways, names: str, asked: Asked) -> list[Method]:
    """The methods asked for."""
    from bestofn.judge.shown import ShownCounts

    chosen = ways.methods(named(names), asked.showing(), ShownCounts())
    return [method for mine in chosen.values() for method in mine]


def watched(plan: Plan, quiet: bool) -> Iterator[list[Request]]:
    """The groups of a plan, with progress on a terminal: to plan is to read and render every run."""
    from bestofn.cli.reading import progress
    from bestofn.judge.question import calls

    done = 0
    with progress("planning", quiet=quiet) as step:
        total = calls(plan.methods, plan.pool) if step is not None else None
        for group in plan.groups():
            done += len(group)
            if step is not None:
                step(done, total)
            yield group


@contextmanager
def prepared(pool: str, model: str, asked: Asked, format: str | None) -> Iterator[tuple[Pool, Client, Cache]]:
    """The pool, a client that sends nothing, and its cache."""
    from dataclasses import replace

    from bestofn.errors import UsageError
    from bestofn.llm.cache import Cache

    if not model:
        raise UsageError("say which model: --model MODEL, by the name that its server knows")
    cache = Cache()
    client = replace(asked, offline=True, budget_usd=None, budget_tokens=None).client(model, cache)
    try:
        yield asked.pool(pool, format), client, cache
    finally:
        client.close()
        cache.close()
