"""`bestofn judge compare`: ways of asking one model about one pool, in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bestofn.cli.asked import Asked, sharing_options
from bestofn.cli.options import (
    FormatOption,
    JsonOption,
    KeepGoingOption,
    OutputOption,
    PassAtOption,
    PoolOption,
    QuietOption,
    UnknownAsFailOption,
)
from bestofn.cli.ways import (
    CodesOption,
    JudgmentsOption,
    ModelOption,
    PivotsOption,
    RepeatsOption,
    VerifierOption,
    WaysOption,
    named,
    read_ways,
)


@sharing_options
def compare(
    pool: PoolOption,
    asked: Asked,
    model: ModelOption = "",
    methods: WaysOption = "judge,verifier-round-robin,verifier-pivot,min-codes",
    repeats: RepeatsOption = 1,
    pivots: PivotsOption = 2,
    verifier_criteria: VerifierOption = "verifier",
    codes_criteria: CodesOption = "diagnosis",
    judgments: JudgmentsOption = None,
    save_table: Annotated[
        Path | None,
        typer.Option(
            "--save-table", metavar="FILE", help="Keep the feature table (.csv or .parquet).", show_default=False
        ),
    ] = None,
    json: JsonOption = False,
    output: OutputOption = None,
    format: FormatOption = None,
    pass_at: PassAtOption = None,
    unknown_as_fail: UnknownAsFailOption = False,
    keep_going: KeepGoingOption = False,
    quiet: QuietOption = False,
) -> None:
    """Compare ways of asking one model on one labelled pool: our judge, the verifier's tournaments, min-codes.

    All ask the same model through the same cache, and stand in one table beside the rules that ask nobody. `judge` is
    the mean rank over its columns, which also stand alone. A missing score speaks neither for nor against an attempt;
    how many are missing stands below.

    Example: bestofn judge compare --pool demo --model gpt-5.4-mini --methods judge,verifier-pivot
    """
    from bestofn.cli.asking import answering, finish, write_states, write_table
    from bestofn.cli.evaluate import evaluation_shown
    from bestofn.cli.output import to_json, write
    from bestofn.cli.reading import Reading
    from bestofn.evaluation import evaluate
    from bestofn.judge.comparing import BESIDE, selectors
    from bestofn.judge.diagnosis import read_judgments
    from bestofn.judge.judging import conclude
    from bestofn.judge.question import ask_all
    from bestofn.judge.shown import ShownCounts

    reading = Reading(
        format_name=format,
        keep_going=keep_going,
        quiet=quiet,
        pass_at=pass_at,
        unknown_as_fail=unknown_as_fail,
        like=asked.task,
    )
    recorded = read_judgments(judgments) if judgments is not None else None
    ways = read_ways(asked, verifier_criteria, codes_criteria, recorded, repeats, pivots)
    showing, shown = asked.showing(), ShownCounts()
    chosen = ways.methods(named(methods), showing, shown)
    every = [method for mine in chosen.values() for method in mine]
    table = reading.table(pool)
    with answering(asked, model, quiet=quiet) as answerer:
        summary = ask_all(every, asked.pool(pool, format), answerer)
        judgement = conclude(every, answerer, summary, shown, showing, ways.sets(list(chosen)))
    table = judgement.onto(table)
    extra = selectors({name: [c for method in mine for c in method.columns()] for name, mine in chosen.items()})
    result = evaluate(table, selectors=BESIDE, extra=extra, null=0, seed=showing.seed)
    write(to_json(result.as_dict()) if json else evaluation_shown(result), output)
    if save_table is not None:
        write_table(table, save_table)
    write_states(judgement.columns, table, asked, save_table)
    finish(judgement, asked, quiet=quiet)
