"""Batch files out and in, recordings, and scoring from both without a server."""

from __future__ import annotations

import gzip
import json
import math
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripted_server import ScriptedServer, chat, refusal, token, verdict

from bestofn.errors import ModelError
from bestofn.llm.answer import Completion, Missing, Outcome, Reason, Source
from bestofn.llm.batch import export_requests, import_answers
from bestofn.llm.cache import IN_MEMORY, Cache
from bestofn.llm.capabilities import Capabilities
from bestofn.llm.client import Client
from bestofn.llm.letters import State, read_scores
from bestofn.llm.replay import Replay, record, settings_of
from bestofn.llm.request import Message, Request, Sampling, nonce_tag, request_hash

MODEL = "judge-1"


def request(text: str, criterion: str = "local") -> Request:
    """One question with its tag."""
    tag = nonce_tag("verdict", text, criterion)
    return Request((Message("user", f"{text}? <{tag}>"),), (tag,), criterion, text)


REQUESTS = [request(f"run {i}") for i in range(4)]
GROUPS = [[r] for r in REQUESTS]


@pytest.fixture
def cut_network(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """No key; and once called, an error for whoever opens a connection."""
    for name in ("BESTOFN_API_KEY", "OPENAI_API_KEY", "BESTOFN_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    def refuse(*args: object) -> None:
        raise AssertionError("a connection was opened")

    return lambda: monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture
def no_network(cut_network: Callable[[], None]) -> None:
    """No key and no connection from the start."""
    cut_network()


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path: Path, *records: Any) -> Path:
    """A file of JSON lines; texts go in as they are."""
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records))
    return path


def answered(id: str, letter: str, tag: str) -> dict[str, Any]:
    """A line of Batch output with log-probabilities."""
    top: dict[str, float | None] = {letter: math.log(0.75), "D": math.log(0.25)}
    tokens = [token(f"<{tag}>"), token(letter, top[letter], top)]
    body = chat(f"<{tag}>{letter}</{tag}>", tokens=tokens)
    return {
        "id": "b",
        "custom_id": id,
        "response": {"status_code": 200, "request_id": "r", "body": body},
        "error": None,
    }


def test_a_batch_goes_out_and_comes_back(tmp_path: Path, no_network: None) -> None:
    """Exported requests answered by a batch endpoint score in a run that has no key and opens no connection."""
    cache = Cache(tmp_path / "c.sqlite")
    report = export_requests([*GROUPS, [REQUESTS[0]]], tmp_path / "out.jsonl", model=MODEL, cache=cache)
    assert (report.written, report.copies, report.answered, report.too_large) == (4, 1, 0, False)
    out = lines(tmp_path / "out.jsonl")
    assert [set(line) for line in out] == [{"custom_id", "method", "url", "body"}] * 4
    assert {(line["method"], line["url"]) for line in out} == {("POST", "/v1/chat/completions")}
    assert all(len(line["custom_id"]) <= 64 for line in out)
    assert set(out[0]["body"]) == {
        "model", "messages", "max_completion_tokens", "temperature", "logprobs", "top_logprobs",
    }  # fmt: skip
    back = [answered(line["custom_id"], "B", r.tags[0]) for line, r in zip(out, REQUESTS, strict=True)]
    found = import_answers(write(tmp_path / "back.jsonl", *back), cache)
    assert (found.imported, found.open, found.lines()) == (4, 0, ["4 answers imported, 0 exported requests still open"])

    for base_url in (None, "https://another.example/v1"):
        client = Client(MODEL, cache=cache, base_url=base_url)
        outcomes = list(client.answer(GROUPS))
        scores = [read_scores(outcome, r.tags)[r.tags[0]] for r, outcome in outcomes]
        assert {s.state for s in scores} == {State.OK}
        assert client.accounts.by_criterion()["local"].imported == 4
        assert client.notes == ("4 answers come from imported batch files",)
    again = export_requests(GROUPS, tmp_path / "again.jsonl", model=MODEL, cache=cache)
    assert (again.written, again.answered) == (0, 4)


def test_a_server_goes_before_an_imported_answer(tmp_path: Path) -> None:
    """What the asked server answered counts; imported answers fill in for the rest only."""
    server = ScriptedServer(lambda body, n: verdict(body, "A"))
    try:
        cache = Cache(tmp_path / "c.sqlite")
        list(Client(MODEL, cache=cache, base_url=server.url).answer(GROUPS[:1]))
        export_requests(GROUPS[:2], tmp_path / "out.jsonl", model=MODEL, cache=cache)
        back = [
            answered(line["custom_id"], "T", r.tags[0])
            for line, r in zip(lines(tmp_path / "out.jsonl"), REQUESTS[:2], strict=True)
        ]
        import_answers(write(tmp_path / "back.jsonl", *back), cache)
        outcomes = dict(list(Client(MODEL, cache=cache, base_url=server.url).answer(GROUPS[:2])))
        assert [o.source for o in outcomes.values() if isinstance(o, Completion)] == [Source.CACHE, Source.IMPORT]
    finally:
        server.stop()


def test_a_colleague_answers_with_plain_letters(tmp_path: Path, no_network: None) -> None:
    """Plain text counts, tagged or as the letter alone; what holds no verdict is missing."""
    cache = Cache(tmp_path / "c.sqlite")
    export_requests(GROUPS, tmp_path / "out.jsonl", model=MODEL, cache=cache)
    ids = [line["custom_id"] for line in lines(tmp_path / "out.jsonl")]
    back = [
        {"custom_id": ids[0], "text": f"I say <{REQUESTS[0].tags[0]}>B</{REQUESTS[0].tags[0]}>"},
        {"custom_id": ids[1], "content": " c\n"},
        {"custom_id": ids[2], "text": "it was a good run"},
    ]
    assert import_answers(write(tmp_path / "back.jsonl", *back), cache).open == 1
    outcomes = Client(MODEL, cache=cache, offline=True).answer(GROUPS)
    scores = [read_scores(outcome, r.tags)[r.tags[0]] for r, outcome in outcomes]
    assert [(s.state, s.reason, s.letter) for s in scores] == [
        (State.DEGRADED, Reason.NO_LOGPROBS, "B"),
        (State.DEGRADED, Reason.NO_LOGPROBS, "C"),
        (State.MISSING, Reason.NO_TAG, ""),
        (State.MISSING, Reason.NOT_RECORDED, ""),
    ]


def test_an_import_tells_what_it_could_not_use(tmp_path: Path) -> None:
    """Failures by reason, unknown ids by name, repeated and torn lines: each is counted and said."""
    cache = Cache(tmp_path / "c.sqlite")
    export_requests(GROUPS, tmp_path / "out.jsonl", model=MODEL, cache=cache)
    ids = [line["custom_id"] for line in lines(tmp_path / "out.jsonl")]
    path = write(
        tmp_path / "back.jsonl",
        answered(ids[0], "T", REQUESTS[0].tags[0]),
        {"custom_id": ids[0], "text": "A"},
        {"custom_id": ids[0], "response": None, "error": {"code": "batch_expired", "message": "expired"}},
        {"custom_id": ids[1], "response": {"status_code": 400, "body": {"error": {"message": "bad"}}}, "error": None},
        {"custom_id": ids[2], "response": {"status_code": 200, "body": {"choices": []}}, "error": None},
        {"custom_id": "somebody-elses", "text": "A"},
        {"custom_id": "bestofn-" + "0" * 32, "text": "A"},
        {"text": "A"},
        '{"custom_id": "tor',
        "",
    )
    found = import_answers(path, cache)
    assert found.lines() == [
        "2 answers imported, 3 exported requests still open",
        "1 custom_ids came more than once; the last answer counts",
        "1 failed: expired",
        "1 failed: HTTP 400: bad",
        "1 failed: the answer holds no choices",
        "1 unknown custom_ids: somebody-elses",
        "1 answers belong to requests that were not exported with this cache",
        f"{path}, line 8: no custom_id",
        f"{path}, line 9: {found.unreadable[1].split(': ', 1)[1]}",
    ]
    assert "not JSON" in found.unreadable[1]
    [(r, outcome)] = Client(MODEL, cache=cache, offline=True).answer(GROUPS[:1])
    assert read_scores(outcome, r.tags)[r.tags[0]].letter == "A"


def test_another_model_or_sampling_does_not_find_imported_answers(tmp_path: Path) -> None:
    """An imported answer stands for the model and the sampling it was exported for."""
    cache = Cache(tmp_path / "c.sqlite")
    export_requests(GROUPS, tmp_path / "o.jsonl", model=MODEL, cache=cache)
    ids = [line["custom_id"] for line in lines(tmp_path / "o.jsonl")]
    import_answers(write(tmp_path / "back.jsonl", *({"custom_id": i, "text": "A"} for i in ids)), cache)
    for options in ({"model": "judge-2"}, {"model": MODEL, "sampling": Sampling(temperature=0.0)}):
        outcomes = list(Client(cache=cache, offline=True, **options).answer(GROUPS))  # type: ignore[arg-type]  # as named
        assert all(isinstance(outcome, Missing) for _, outcome in outcomes)


def test_an_export_can_leave_logprobs_out(tmp_path: Path) -> None:
    """For a model that refuses log-probabilities the lines do not ask for them, and the ids stay the same."""
    plain = Capabilities(logprobs=False, limit_field="max_tokens")
    export_requests(GROUPS, tmp_path / "o.jsonl", model=MODEL, cache=Cache(IN_MEMORY), capabilities=plain)
    first = lines(tmp_path / "o.jsonl")[0]
    assert set(first["body"]) == {"model", "messages", "max_tokens", "temperature"}
    assert first["custom_id"] == "bestofn-" + request_hash(REQUESTS[0], MODEL)


@pytest.mark.parametrize("call", [lambda p: import_answers(p, Cache(IN_MEMORY)), lambda p: Replay(p)])
def test_a_file_that_is_not_there_is_named(tmp_path: Path, call: Any) -> None:
    """A missing file is an error with its name."""
    with pytest.raises(ModelError, match=r"cannot read .*nothing\.jsonl: No such file or directory"):
        call(tmp_path / "nothing.jsonl")


def recording(tmp_path: Path) -> tuple[Path, list[tuple[Request, Outcome]]]:
    """A recording of three of the four requests, and what the server had answered."""
    server = ScriptedServer(lambda body, n: verdict(body) if "run 2" not in str(body) else refusal("no"))
    try:
        cache = Cache(tmp_path / "c.sqlite")
        outcomes = list(Client(MODEL, cache=cache, base_url=server.url).answer(GROUPS))
    finally:
        server.stop()
    assert record(REQUESTS, tmp_path / "demo.jsonl", model=MODEL, cache=cache) == (3, 1)
    return tmp_path / "demo.jsonl", outcomes


def test_a_replay_scores_as_the_server_did(tmp_path: Path, cut_network: Callable[[], None]) -> None:
    """Without key and network the recorded answers give the same scores; what was not recorded is missing."""
    path, live = recording(tmp_path)
    cut_network()
    expected = {r: read_scores(outcome, r.tags) for r, outcome in live if isinstance(outcome, Completion)}
    replay = Replay(path)
    outcomes = list(replay.answer(GROUPS))
    found = {r: read_scores(outcome, r.tags) for r, outcome in outcomes if isinstance(outcome, Completion)}
    assert found.keys() == expected.keys()
    assert len(expected) == 3
    for r, scores in found.items():
        assert {tag: (s.state, s.score) for tag, s in scores.items()} == {
            tag: (s.state, pytest.approx(s.score, abs=1e-4)) for tag, s in expected[r].items()
        }
    assert outcomes[2][1] == Missing(Reason.NOT_RECORDED, "demo.jsonl holds no answer to this request")
    account = replay.accounts.by_criterion()["local"]
    assert (account.replayed, account.calls, account.usd) == (3, 0, 0.0)
    assert replay.notes == ("answers of judge-1, replayed from demo.jsonl",)


def test_a_recording_holds_nothing_of_where_it_was_made(tmp_path: Path) -> None:
    """Hash, model, criterion and answer are recorded; no server, path or prompt is."""
    path, _ = recording(tmp_path)
    text = path.read_text()
    first, *rest = lines(path)
    assert first == {"recorded_with": {"model": MODEL, "sampling": Sampling().to_json()}}
    assert [set(line) for line in rest] == [{"request_hash", "model", "criterion", "completion"}] * 3
    assert "127.0.0.1" not in text
    assert "run 1" not in text


def test_a_recording_says_how_it_was_asked_for(tmp_path: Path) -> None:
    """A replay without settings takes the recording's own, and other settings find nothing."""
    asked, cache = Sampling(temperature=0.2), Cache(tmp_path / "c.sqlite")
    server = ScriptedServer(lambda body, n: verdict(body))
    try:
        list(Client(MODEL, cache=cache, base_url=server.url, sampling=asked).answer(GROUPS))
    finally:
        server.stop()
    path = tmp_path / "r.jsonl"
    settings = {"showing": {"tokens": 900}}
    assert record(REQUESTS, path, model=MODEL, cache=cache, sampling=asked, settings=settings) == (4, 0)
    assert settings_of(path) == {"model": MODEL, "sampling": asked.to_json(), **settings}
    assert all(isinstance(outcome, Completion) for _, outcome in Replay(path).answer(GROUPS))
    assert not any(isinstance(o, Completion) for _, o in Replay(path, sampling=Sampling()).answer(GROUPS))


def test_a_recording_may_be_packed(tmp_path: Path) -> None:
    """With a name ending in .gz it is, the same bytes each time; a torn one is told."""
    path, _ = recording(tmp_path)
    cache = Cache(tmp_path / "c.sqlite")
    packed, again = tmp_path / "p.jsonl.gz", tmp_path / "q.jsonl.gz"
    assert record(REQUESTS, packed, model=MODEL, cache=cache) == (3, 1)
    record(REQUESTS, again, model=MODEL, cache=cache)
    assert gzip.decompress(packed.read_bytes()) == path.read_bytes()
    assert packed.read_bytes() == again.read_bytes()
    assert [o for _, o in Replay(packed).answer(GROUPS)] == [
        replace(o, detail=o.detail.replace("demo.jsonl", "p.jsonl.gz")) if isinstance(o, Missing) else o
        for _, o in Replay(path).answer(GROUPS)
    ]
    for torn in (packed.read_bytes()[:-20], b"no gzip at all"):
        packed.write_bytes(torn)
        with pytest.raises(ModelError, match=r"cannot read .*p\.jsonl\.gz: "):
            Replay(packed)


def test_a_replay_reads_batch_output_and_needs_the_model_named(tmp_path: Path) -> None:
    """A batch endpoint's output file replays as it is, once the model is given."""
    id = "bestofn-" + request_hash(REQUESTS[0], MODEL)
    path = write(tmp_path / "out.jsonl", answered(id, "B", REQUESTS[0].tags[0]))
    with pytest.raises(ModelError, match="does not name the model that answered: give it with --model"):
        Replay(path)
    [(_, outcome)] = Replay(path, MODEL).answer(GROUPS[:1])
    assert isinstance(outcome, Completion)


def test_a_replay_of_several_models_asks_which(tmp_path: Path) -> None:
    """A recording of two models lists them."""
    records = [{"request_hash": d * 32, "model": m, "completion": {"content": "x", "finish_reason": "stop"}}
               for d, m in (("a", "one"), ("b", "two"))]  # fmt: skip
    with pytest.raises(ModelError, match="holds answers of one, two: choose one with --model"):
        Replay(write(tmp_path / "r.jsonl", *records))


@pytest.mark.parametrize(
    ("content", "told"), [("", "it is empty"), ("{}\n", "line 1: no custom_id"), ("{", "line 1: not JSON")]
)
def test_a_recording_without_answers_is_told(tmp_path: Path, content: str, told: str) -> None:
    """A file that holds no answers is an error that says why."""
    path = tmp_path / "r.jsonl"
    path.write_text(content)
    with pytest.raises(ModelError, match=rf"r\.jsonl holds no recorded answers \({told}"):
        Replay(path)
