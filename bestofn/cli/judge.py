"""`bestofn judge`: asks a model about a pool's attempts, in batch files or at once, and compares ways of asking."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bestofn.cli.asking import Asked, sharing_options
from bestofn.cli.options import FormatOption, JsonOption, KeepGoingOption, OutputOption, PoolOption, QuietOption

if TYPE_CHECKING:
    from bestofn.judge.judging import Judgement
    from bestofn.pool import Pool

app = typer.Typer(
    help="Ask a model about the attempts of a pool: estimate, run, batch files out and in, recordings, comparisons.\n\n"
    "Answers are kept, so a run that stops goes on where it was. `bestofn features --judge MODEL` does the same beside "
    "the other features.\n\nExample: bestofn judge estimate --pool demo --model gpt-5.4-mini",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ModelOption = Annotated[
    str,
    typer.Option("--model", "-m", metavar="MODEL", help="The judge, as its server names it.", show_default=False),
]


@app.command(name="run")
@sharing_options
def run(
    pool: PoolOption,
    asked: Asked,
    model: ModelOption = "",
    output: OutputOption = None,
    format: FormatOption = None,
    keep_going: KeepGoingOption = False,
    quiet: QuietOption = False,
) -> None:
    """Score a pool's attempts with a model, and write the scores as a table.

    The run ends with the states of all scores and what each criterion took. Exit code 1 where too many are missing.

    Example: bestofn judge run --pool demo --replay answers.jsonl -o scores.csv
    """
    from bestofn.cli.asking import finish
    from bestofn.cli.output import write
    from bestofn.cli.reading import Reading

    table = Reading(format_name=format, keep_going=keep_going, quiet=quiet).table(pool, ())
    judgement = judged(pool, model, asked, format=format, quiet=quiet)
    table = judgement.onto(table)
    if output is None:
        write(table.to_frame().to_csv(index=False), None)
    else:
        from bestofn.table_file import write as write_table

        write_table(table, output)
    from bestofn.cli.asking import write_states

    write_states(judgement.columns, table, asked, output)
    finish(judgement, asked, quiet=quiet)


def judged(pool: str, model: str | None, asked: Asked, *, format: str | None, quiet: bool) -> Judgement:
    """A model's judgement of a pool."""
    from bestofn.catalogue import load_pool
    from bestofn.cli.asking import answering
    from bestofn.judge.judging import judge

    criteria = asked.criteria_sets()
    with answering(asked, model, quiet=quiet) as answerer:
        return judge(load_pool(pool, format=format), criteria, answerer, asked.showing())
