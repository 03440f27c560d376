"""A pool whose runs say how good they are, and a judge that reads just that: what comes out must be what was put in."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripted_server import Reply, chat, token

from bestofn.llm.request import LETTERS

ATTEMPT = re.compile(r"=== \w+ ATTEMPT (\d+) ===")
QUALITY = re.compile(r"QUALITY ([A-T])\b")
TAG = re.compile(r"<(score_[0-9a-f]{8}(?:_\d+)?)>")


def record(task: str, name: str, quality: str, **fields: Any) -> dict[str, Any]:
    """One attempt in chat form, whose last output tells its quality."""
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": "check"})}}
    messages = [
        {"role": "user", "content": f"Make {task} work."},
        {"role": "assistant", "content": "I check.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": f"QUALITY {quality}", "exit_code": 0},
        {"role": "assistant", "content": "All is done."},
    ]
    return {"task": task, "id": name, "ending": "finished", "messages": messages, **fields}


def write_pool(
    folder: Path, qualities: Mapping[str, Sequence[str]], rewards: Mapping[str, float] | None = None
) -> Path:
    """A pool with a file a task: its attempts `<task>.a1`, `<task>.a2`, ... of these qualities."""
    folder.mkdir(parents=True, exist_ok=True)
    for task, letters in qualities.items():
        lines = []
        for number, letter in enumerate(letters, start=1):
            name = f"{task}.a{number}"
            reward = {"reward": rewards[name]} if rewards and name in rewards else {"reward": float(letter < "K")}
            lines.append(json.dumps(record(task, name, letter, **reward)))
        (folder / f"{task}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def letters_for(text: str) -> dict[str, str]:
    """Tag to letter, as a judge that reads qualities rightly would answer a prompt."""
    tags = list(dict.fromkeys(TAG.findall(text)))
    parts = ATTEMPT.split(text)
    if len(parts) == 1:
        return {tag: QUALITY.findall(text)[-1] for tag in tags}
    shown = [QUALITY.findall(part)[-1] for part in parts[2::2]]
    if len(tags) == len(shown):
        return dict(zip(tags, shown, strict=True))
    [tag] = tags
    gap = LETTERS.index(shown[1]) - LETTERS.index(shown[0])  # above 0 where the first is better
    return {tag: LETTERS[min(19, max(0, 9 - gap))] if gap else "J"}


def answer(letters: Mapping[str, str], *, logprobs: bool = True) -> Reply:
    """The reply that holds these letters, each with nearly all the probability."""
    text = "\n".join(f"<{tag}>{letter}</{tag}>" for tag, letter in letters.items())
    tokens = []
    for tag, letter in letters.items():
        sure = {letter: math.log(0.999)}
        tokens += [token(f"<{tag}"), token(">"), token(letter, math.log(0.999), sure), token(f"</{tag}>\n")]
    return Reply(chat(text, tokens=tokens if logprobs else None))


def honest(body: dict[str, Any], number: int) -> Reply:
    """The script of a judge that reads qualities rightly."""
    text = body["messages"][-1]["content"]
    letters = letters_for(text) if TAG.search(text) else {"probe": "A"}
    return answer(letters, logprobs=bool(body.get("logprobs")))
