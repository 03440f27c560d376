"""The commands, each in a module of its own that imports what it needs when it runs, so that help comes at once."""

from __future__ import annotations

from typing import Annotated

import typer

from bestofn.cli import ablate, check, compile, evaluate, features, fit, judge, pools, report, score, select, taxonomy

app = typer.Typer(
    name="bestofn",
    help="Pick the attempt that really succeeded: trajectory selection for recorded agent runs, evaluated honestly.",
    epilog="Start with: bestofn select --pool demo. Exit codes: 0 done, 1 below the bar you asked for, 2 wrong use or "
    "unusable input, 3 unsure where that is to fail (score).",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _version(asked: bool) -> None:
    """Print the version and stop."""
    if asked:
        import bestofn

        typer.echo(f"bestofn {bestofn.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Pick the attempt that really succeeded: trajectory selection for recorded agent runs, evaluated honestly."""


app.command(name="select")(select.select)
app.command(name="evaluate")(evaluate.evaluate)
app.command(name="ablate")(ablate.ablate)
app.command(name="report")(report.report)
app.command(name="fit")(fit.fit)
app.command(name="score")(score.score)
app.command(name="features")(features.features)
app.command(name="check")(check.check)
app.command(name="compile")(compile.compile)
app.add_typer(judge.app, name="judge")
app.add_typer(taxonomy.app, name="taxonomy")
app.add_typer(pools.app, name="pools")
