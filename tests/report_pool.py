"""Small pools for the tests of the report: an ordinary one, and one whose every text attacks the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

GIANT = "A" * 200_000
ATTACKS = (
    "<script>window.pwned=1;document.title='pwned'</script>",
    "</script><script>window.pwned=1</script>",
    "<!--<script>window.pwned=1</script>-->",
    '"><img src=x onerror="window.pwned=1">',
    "<svg onload=window.pwned=1><animate onbegin=window.pwned=1 attributeName=x></svg>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
    "<style>*{display:none!important}</style><link rel=stylesheet href=//attack.invalid/x.css>",
    "</pre></details></section></main></body></html><h1 id=broken>broken</h1>",
    "<base href='https://attack.invalid/'><meta http-equiv=refresh content='0;url=https://attack.invalid/'>",
    "<a href='javascript:window.pwned=1' autofocus onfocus=window.pwned=1>x</a>",
    "{{ 7 * 7 }}{% for x in report %}{% endfor %}${alert(1)}`",
    "\u202egnp.exe\u2066\u200b\ufeff\u061c",
    "Z" + "\u0334\u0315\u0301" * 400,
    "\x1b[31mred\x1b[0m\x1b]0;title\x07\x1b[2J\x08\x08\r\x9b1m",
    "$\\frac{1}{0$ $x_{$",
    "\ud800 half a character",
    GIANT,
)


def attempt(
    task: str, name: str, reward: float | None, texts: tuple[str, ...], *, tool: str = "bash"
) -> dict[str, Any]:
    """One recording whose commands, outputs and messages are the texts, each in turn."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Do {task}. {texts[0]}"}]
    for number, text in enumerate(texts):
        arguments = json.dumps({"command": f"echo {text}"})
        call = {"id": f"c{number}", "type": "function", "function": {"name": tool, "arguments": arguments}}
        messages.append({"role": "assistant", "content": text, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"{text}\nok", "exit_code": 0})
    messages.append({"role": "assistant", "content": f"Done: {texts[-1][:400]}"})
    record: dict[str, Any] = {"task": task, "id": name, "ending": "finished", "messages": messages}
    return record if reward is None else {**record, "reward": reward}


def ordinary(root: Path, n_tasks: int = 4) -> Path:
    """Tasks of three attempts: one short and passing, one long with errors and failing, one in between."""
    root.mkdir()
    trouble = "Traceback (most recent call last):\nValueError: no such row"
    for number in range(n_tasks):
        task = f"task{number}"
        records = [
            attempt(task, f"{task}.a", 1.0, ("look around", "all fine")),
            attempt(task, f"{task}.b", 0.0, ("look around", trouble, "x" * 3000, trouble)),
            attempt(task, f"{task}.c", float(number % 2), ("look around", "try again", "y" * 900)),
        ]
        (root / f"{task}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return root


def hostile(root: Path) -> Path:
    """Every text, name and file name attacks the page."""
    root.mkdir()
    for number in range(3):
        task = f"{number} {ATTACKS[number]} {ATTACKS[7]} {ATTACKS[11]} {ATTACKS[12]} {'W' * 500}"
        records = [
            attempt(task, f"{number}.{i} {ATTACKS[3]}{ATTACKS[11]}", float(i == number), ATTACKS[i:], tool=ATTACKS[4])
            for i in range(3)
        ]
        name = f"{number} <img src=x onerror=pwned=1>\u202e.jsonl"
        (root / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    return root
