"""The options that all commands share which ask a model, and what they make: criteria, sampling, prices, the client."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from bestofn.criteria import CriteriaSet
    from bestofn.judge.showing import Showing
    from bestofn.llm.cache import Cache
    from bestofn.llm.client import Client
    from bestofn.llm.prices import Price
    from bestofn.llm.progress import Progress
    from bestofn.llm.request import Sampling
    from bestofn.pool import Pool

DEFAULT_CRITERIA = "terminal"
OR_RECORDED = ", or what the replayed recording says"
MAX_MISSING = 0.05
"""Share of missing answers above which a run counts as failed."""


@dataclass(frozen=True)
class Asked:
    """The options of all commands that ask a model. `sharing_options` gives them to a command."""

    criteria: Annotated[
        list[str] | None,
        typer.Option(
            "--criteria",
            metavar="NAME|FILE",
            help="What is asked: built-in criteria or a Markdown file. May be given several times. "
            f"Default: {DEFAULT_CRITERIA}.",
            show_default=False,
        ),
    ] = None
    task: Annotated[
        str,
        typer.Option("--task", "-t", metavar="GLOB", help="Only tasks whose name fits, to begin with a few."),
    ] = ""
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url",
            metavar="URL",
            help="An OpenAI-compatible server. Default: $BESTOFN_BASE_URL, $OPENAI_BASE_URL or OpenAI. The key comes "
            "from $BESTOFN_API_KEY or $OPENAI_API_KEY; local servers need none.",
            show_default=False,
        ),
    ] = None
    replay: Annotated[
        Path | None,
        typer.Option(
            "--replay",
            metavar="FILE",
            help="Score from recorded answers alone, without a server or key; an answer not in it is missing. 'demo' "
            "stands for those that ship with the demo pool.",
            show_default=False,
        ),
    ] = None
    offline: Annotated[bool, typer.Option("--offline", help="Send nothing: cached and imported answers only.")] = False
    budget_usd: Annotated[
        float | None,
        typer.Option("--budget-usd", metavar="USD", help="Stop before this is spent.", show_default=False),
    ] = None
    budget_tokens: Annotated[
        int | None,
        typer.Option("--budget-tokens", metavar="N", help="Stop before so many tokens.", show_default=False),
    ] = None
    price_in: Annotated[
        float | None,
        typer.Option("--price-in", metavar="USD", help="Dollars per million input tokens.", show_default=False),
    ] = None
    price_out: Annotated[
        float | None,
        typer.Option("--price-out", metavar="USD", help="Dollars per million output tokens.", show_default=False),
    ] = None
    price_cached: Annotated[
        float | None,
        typer.Option("--price-cached", metavar="USD", help="The same for cached input.", show_default=False),
    ] = None
    max_missing: Annotated[
        float,
        typer.Option(
            "--max-missing", min=0.0, max=1.0, metavar="SHARE", help="Exit with 1 where more scores are missing."
        ),
    ] = MAX_MISSING
    tokens: Annotated[
        int | None,
        typer.Option(
            "--tokens",
            min=200,
            metavar="N",
            help=f"Most tokens of recorded text in one prompt. Default: 24000{OR_RECORDED}.",
            show_default=False,
        ),
    ] = None
    answer_tokens: Annotated[
        int | None,
        typer.Option(
            "--answer-tokens",
            min=1,
            metavar="N",
            help=f"Most tokens of an answer, reasoning included. Default: 1024{OR_RECORDED}.",
            show_default=False,
        ),
    ] = None
    temperature: Annotated[
        float | None,
        typer.Option(
            "--temperature",
            min=0.0,
            metavar="T",
            help=f"Sent where the server takes one. Default: 1{OR_RECORDED}.",
            show_default=False,
        ),
    ] = None
    effort: Annotated[
        str | None,
        typer.Option(
            "--effort", metavar="LEVEL", help="Reasoning effort: none, low, medium, high.", show_default=False
        ),
    ] = None
    show_reasoning: Annotated[bool, typer.Option("--show-reasoning", help="Show the agent's thinking as well.")] = False
    no_redact: Annotated[
        bool, typer.Option("--no-redact", help="Leave secrets in the prompts; only for a model on this machine.")
    ] = False
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, metavar="N", help="Calls under way at once, at most.")
    ] = 32
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, metavar="S", help="Seconds for one call.")] = 300.0
    retries: Annotated[
        int, typer.Option("--retries", min=0, metavar="N", help="Further tries of a call that fails.")
    ] = 6
    extra_body: Annotated[
        str | None,
        typer.Option(
            "--extra-body",
            metavar="JSON",
            help="Further fields of every request, as the server wants them, such as "
            '\'{"chat_template_kwargs": {"enable_thinking": false}}\'.',
            show_default=False,
        ),
    ] = None
    hold_form: Annotated[
        str | None,
        typer.Option(
            "--hold-form",
            metavar="FIELD",
            help="For models that do not keep the form of an answer: let the server hold them to it, by its field "
            "grammar (llama.cpp), structured_outputs (vLLM), guided_regex (vLLM before 0.12) or regex (SGLang). "
            "A model that is held cannot think aloud first.",
            show_default=False,
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=0,
            metavar="N",
            help=f"Start of the orders in which attempts are shown. Default: 0{OR_RECORDED}.",
            show_default=False,
        ),
    ] = None
    states: Annotated[
        Path | None,
        typer.Option(
            "--states",
            metavar="FILE",
            help="Where the state of every score goes, as CSV. Default: beside the table, ending in .states.csv.",
            show_default=False,
        ),
    ] = None

    def pool(self, name: str, format: str | None) -> Pool:
        """The pool that is asked about."""
        from bestofn.catalogue import load_pool

        return replace(load_pool(name, format=format), like=self.task)

    def criteria_sets(self) -> list[CriteriaSet]:
        """The criteria asked for."""
        from bestofn.criteria import load

        return [load(name) for name in dict.fromkeys(self.criteria or [DEFAULT_CRITERIA])]

    def showing(self) -> Showing:
        """How runs are shown: as asked for, else as in the recording that is replayed."""
        from bestofn.judge.showing import Showing

        base = Showing.from_json(self._recorded().get("showing") or {})
        given = {"tokens": self.tokens, "answer_tokens": self.answer_tokens, "seed": self.seed}
        return replace(
            base,
            **{name: value for name, value in given.items() if value is not None},
            reasoning=base.reasoning or self.show_reasoning,
            redact=base.redact and not self.no_redact,
        )

    def sampling(self) -> Sampling:
        """How the model is asked to answer: as asked for, else as in the recording that is replayed."""
        from bestofn.llm.form import check_field
        from bestofn.llm.request import Sampling

        base = Sampling.from_json(self._recorded().get("sampling") or {})
        return Sampling(
            base.temperature if self.temperature is None else self.temperature,
            self.effort or base.reasoning_effort,
            _object(self.extra_body) if self.extra_body is not None else base.extra,
            check_field(self.hold_form) if self.hold_form else base.held_by,
        )

    def _recorded(self) -> Mapping[str, Any]:
        """How the answers that are replayed were asked for."""
        from bestofn.llm.replay import settings_of

        return settings_of(self.replay) if self.replay is not None else {}

    def price(self, model: str) -> Price | None:
        """What tokens cost, where it is known."""
        from bestofn.llm.prices import price_for

        return price_for(model, price_in=self.price_in, price_out=self.price_out, price_cached=self.price_cached)

    def client(self, model: str, cache: Cache, show: Callable[[Progress], None] | None = None) -> Client:
        """The model on its server."""
        from bestofn.llm.budget import Budget
        from bestofn.llm.client import Client
        from bestofn.llm.run import Patience
        from bestofn.rendering.tokens import tokenizer_for

        price = self.price(model)
        limited = self.budget_usd is not None or self.budget_tokens is not None
        return Client(
            model,
            cache=cache,
            base_url=self.base_url,
            sampling=self.sampling(),
            price=price,
            budget=Budget(self.budget_usd, self.budget_tokens, price),
            timeout=self.timeout,
            concurrency=self.concurrency,
            patience=Patience(max_retries=self.retries),
            progress=show,
            count_tokens=tokenizer_for(model).count if limited else None,
            offline=self.offline,
        )


def _object(text: str) -> dict[str, Any]:
    """The fields in a JSON object. Raises UsageError for anything else."""
    import json

    from bestofn.errors import UsageError

    try:
        given = json.loads(text)
    except ValueError as error:
        raise UsageError(f"--extra-body is not JSON ({error}): give an object such as '{{\"top_k\": 1}}'") from error
    if not isinstance(given, dict):
        raise UsageError(f"--extra-body is {text[:60]!r}, not an object: give one such as '{{\"top_k\": 1}}'")
    return given


def sharing_options(command: Callable[..., None], *, without: Collection[str] = ()) -> Callable[..., None]:
    """Gives a command the options of `Asked`, which it gets together as its keyword argument `asked`.

    `without` names fields of `Asked` that mean nothing to the command; it gets their defaults.
    """
    own = inspect.signature(command, eval_str=True).parameters
    types = get_type_hints(Asked, include_extras=True)
    shared = [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=types[f.name])
        for f in fields(Asked)
        if f.name not in without
    ]
    kept = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own.values() if p.name != "asked"]
    names = {p.name for p in shared}

    def run(**given: Any) -> None:
        asked = Asked(**{name: given.pop(name) for name in names})
        if asked.replay is not None and not asked.replay.exists():
            from bestofn.catalogue import recorded_answers

            asked = replace(asked, replay=recorded_answers(str(asked.replay)) or asked.replay)
        command(**given, asked=asked)

    parameters = [*kept, *shared]
    run.__doc__ = command.__doc__
    run.__name__ = command.__name__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what the parser reads
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run
