#!/usr/bin/env python3
"""Record the demo pool again: run each scripted policy for real, let the task's checker decide.

    python data/demo/record.py                     record all tasks into data/demo/pool
    python data/demo/record.py -o DIR log_counts   record one task elsewhere
    python data/demo/record.py --check             record into memory, compare with data/demo/pool

Needs Linux, Python 3.11 or newer and the tools named in TOOLS; no package.
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
import zoneinfo
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from tasks import NAMES, Task, load  # noqa: E402 (the folder of this file comes first)
from tasks.kit import Policy, Seen, bash, make_room  # noqa: E402

TOOLS = ("bash", "git", "tar", "make", "awk", "sed", "flock")
COMMAND_SECONDS = 5.0
OUTPUT_LIMIT = 4000
"""Characters kept of one output; beyond it the middle goes, with a visible mark."""

SYSTEM = (
    "You work in a Linux shell. The working directory is /app. The tool `bash` runs one command in "
    "a fresh bash in /app and returns its output and exit code. A command may take "
    "{command_seconds:g} seconds, and you have {max_calls} commands. When the task is done, answer "
    "without a command."
)

Record = dict[str, Any]


def main() -> int:
    """Read the command line, record, and write or compare."""
    parser = argparse.ArgumentParser(description="Record the demo pool again.")
    parser.add_argument("task", nargs="*", help="tasks to record (default: all)")
    parser.add_argument("-o", "--output", type=Path, default=HERE / "pool", help="the folder")
    parser.add_argument("--check", action="store_true", help="compare with the folder instead")
    arguments = parser.parse_args()

    unknown = [name for name in arguments.task if name not in NAMES]
    if unknown:
        parser.error(f"no task named {', '.join(unknown)}; the tasks are {', '.join(NAMES)}")
    missing = missing_tools()
    if missing:
        print(
            f"record.py: this machine lacks {', '.join(missing)}; the tasks need all of it",
            file=sys.stderr,
        )
        return 2

    differing = 0
    for name in arguments.task or NAMES:
        records = record_task(load(name))
        path = arguments.output / f"{name}.jsonl"
        passes = sum(record["reward"] == 1.0 for record in records)
        print(f"{name}: {passes} of {len(records)} passed")
        if arguments.check:
            differing += compare(path, records)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(to_line(record) for record in records), encoding="utf-8")
    if arguments.check:
        print(f"{differing or 'no'} attempts differ in outcome")
    return 1 if differing else 0


def missing_tools() -> list[str]:
    """What the tasks need and this machine does not have."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if "America/New_York" not in zoneinfo.available_timezones():
        missing.append("the time zone database (tzdata)")
    return missing


def record_task(task: Task) -> list[Record]:
    """All attempts of one task, in an order shuffled by a fixed seed: position says nothing."""
    policies = list(task.policies.values())
    random.Random(f"order of {task.name}").shuffle(policies)
    ids = [f"{task.name}.a{number}" for number in range(1, len(policies) + 1)]
    return [record_attempt(task, *pair) for pair in zip(ids, policies, strict=True)]


def record_attempt(task: Task, attempt_id: str, policy: Policy) -> Record:
    """Run one policy in a fresh directory, then let the checker look at what it left there."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        work = make_room(root)
        task.setup(work)
        messages, ending = converse(task, policy, work)
        passed = task.check(work)
    return {
        "task": task.name,
        "id": attempt_id,
        "reward": 1.0 if passed else 0.0,
        "ending": ending,
        "messages": messages,
    }


def converse(task: Task, policy: Policy, work: Path) -> tuple[list[Record], str]:
    """Play the policy against bash until it ends or its budget strikes: messages and ending."""
    neutral = neutral_for(work.parent)
    system = SYSTEM.format(command_seconds=COMMAND_SECONDS, max_calls=task.max_calls)
    messages: list[Record] = [
        {"role": "system", "content": system},
        {"role": "user", "content": task.instruction},
    ]
    started, calls, playing = time.monotonic(), 0, policy()
    seen: Seen | None = None
    while True:
        try:
            # A generator takes None first; after that it always gets what its command printed.
            move = playing.send(cast(Seen, seen))
        except StopIteration as end:
            if end.value is None:
                return messages, "unfinished"
            messages.append({"role": "assistant", "content": end.value})
            return messages, "finished"
        if calls == task.max_calls or time.monotonic() - started > task.max_seconds:
            return messages, "timed_out"
        calls += 1
        call_id = f"c{calls}"
        function = {"name": "bash", "arguments": to_json({"command": move.command})}
        message: Record = {"role": "assistant", "content": move.say}
        if move.think is not None:
            message["reasoning_content"] = move.think
        message["tool_calls"] = [{"id": call_id, "type": "function", "function": function}]
        result = bash(work, move.command, COMMAND_SECONDS)
        seen = Seen(cut(neutral(result.output)), result.exit_code)
        answer = {
            "role": "tool",
            "tool_call_id": call_id,
            "content": seen.output,
            "exit_code": seen.exit_code,
        }
        messages += [message, answer]


def neutral_for(root: Path) -> Callable[[str], str]:
    """A function that puts neutral paths in place of those of the recording machine."""
    paths = {
        root / "app": "/app",
        root / "home": "/home/agent",
        root / "tmp": "/tmp",
        root / "bin": "/usr/bin",
    }
    pairs = [(str(path), name) for path, name in paths.items()] + [(sys.base_prefix, "/usr")]

    def neutral(text: str) -> str:
        for path, name in pairs:
            text = text.replace(path, name)
        return text

    return neutral


def cut(text: str) -> str:
    """The text, or its start and end around a mark that says how much is gone."""
    if len(text) <= OUTPUT_LIMIT:
        return text
    half = OUTPUT_LIMIT // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters cut ...]\n{text[-half:]}"


def compare(path: Path, records: list[Record]) -> int:
    """Print how the new records differ from those in `path`; how many do in outcome or ending."""
    if not path.is_file():
        print(f"  {path} does not exist; run without --check to record it")
        return len(records)
    lines = path.read_text(encoding="utf-8").splitlines()
    old = {record["id"]: record for record in map(json.loads, lines)}
    new = {record["id"]: record for record in records}
    differing = 0
    for attempt_id in sorted(old | new):
        was, now = old.get(attempt_id), new.get(attempt_id)
        if was is None or now is None:
            differing += 1
            print(f"  {attempt_id}: only {'recorded now' if was is None else 'on disk'}")
        elif (was["reward"], was["ending"]) != (now["reward"], now["ending"]):
            differing += 1
            told = f"{was['reward']} {was['ending']} on disk, {now['reward']} {now['ending']} now"
            print(f"  {attempt_id}: {told}")
        elif was != now:
            print(f"  {attempt_id}: same outcome, other text (versions or timings of the tools)")
    return differing


def to_json(value: object) -> str:
    """Compact JSON that keeps letters beyond ASCII readable."""
    return json.dumps(value, ensure_ascii=False)


def to_line(record: Record) -> str:
    """One record as one line."""
    return to_json(record) + "\n"


if __name__ == "__main__":
    sys.exit(main())
