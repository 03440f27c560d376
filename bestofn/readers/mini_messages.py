"""mini-swe-agent's messages brought into OpenAI's shape: every command a tool call, every output its result."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import re2

from bestofn.readers.blocks import without
from bestofn.readers.ending import SUBMIT_MARK
from bestofn.readers.messages import is_message
from bestofn.readers.mini_outputs import Output, output
from bestofn.readers.text import text_of
from bestofn.readers.values import items, mapping, name, string

SUBMIT = (SUBMIT_MARK, "MINI_SWE_AGENT_FINAL_OUTPUT")
"""What a command prints to hand the work in, in newer and oldest versions."""

_OWN_FENCE = "mswea_bash_command"
_OWN_BLOCK = re2.compile(r"(?s)```mswea_bash_command\s*\n(.*?)\n```|<mswea_bash_command>(.*?)</mswea_bash_command>")
_BASH_BLOCK = re2.compile(r"(?s)```bash\s*\n(.*?)\n```()")
_HARNESS = re.compile(r"(?i)\bexactly one action\b|\btool call error\b|\A\s*<error>|please always provide")
"""How the harness tells the model that it wrote no action, in versions that do not mark such messages."""


class Conversation(NamedTuple):
    """A recording in OpenAI's shape, and how it was left."""

    messages: list[dict[str, Any]]
    exit_status: str
    """As the last message of role `exit` has it, empty where there is none."""
    exit_text: str
    skipped: int
    """Items that are no messages."""


def conversation(recorded: list[Any], submission: str) -> Conversation:
    """The recorded messages as a conversation.

    `submission` is the agent's final product, where the recording keeps it apart; it becomes the output of the
    command that submits, if no message holds that.
    """
    return _Translation(recorded).conversation(submission)


class _Translation:
    """One recording on its way."""

    def __init__(self, recorded: list[Any]) -> None:
        self.recorded = recorded
        own = any(_OWN_FENCE in _raw(mapping(message).get("content")) for message in recorded)
        self.block = _OWN_BLOCK if own else _BASH_BLOCK
        """What is run: blocks with the harness's own mark where the recording has it anywhere, else bash."""
        self.messages: list[dict[str, Any]] = []
        self.waiting: list[str] = []
        """Ids of the latest turn's calls that have no output yet."""
        self.submits = False
        """The latest turn of the model hands the work in."""
        self.begun = False
        """The model has had a turn."""

    def conversation(self, submission: str) -> Conversation:
        """The whole of it."""
        status = text = ""
        skipped = 0
        for index, message in enumerate(self.recorded):
            if isinstance(message, dict) and message.get("role") == "exit":
                status = string(mapping(message.get("extra")).get("exit_status"))
                text = text_of(message.get("content"))
                if self.submits and status.lower() in ("submitted", ""):
                    self._result("", Output(text, None))
            elif not self._takes(message, index):
                skipped += 1
        if self.submits and submission:
            self._result("", Output(text_of(submission), None))
        return Conversation(self.messages, status, text, skipped)

    def _takes(self, message: Any, index: int) -> bool:
        """Take a message in; False where it is none."""
        if not isinstance(message, dict):
            return False
        if message.get("object") == "response":
            message = _from_response(message)
        if message.get("role") == "assistant" and is_message(message):
            self._model(message, index)
            return True
        shown = output(message) if self.begun else None
        if shown is None and self.submits and message.get("role") == "user" and index == len(self.recorded) - 1:
            shown = Output(text_of(message.get("content")), None)
        if shown is not None:
            self._result(name(message.get("tool_call_id")) or name(message.get("call_id")), shown)
            return True
        if not is_message(message):
            return False
        said = text_of(message.get("content"))
        of_harness = "interrupt_type" in mapping(message.get("extra")) or _HARNESS.search(said) is not None
        if not self.begun or said:
            role = "system" if self.begun and of_harness else message["role"]
            self.messages.append({"role": role, "content": message.get("content")})
        return True

    def _model(self, message: dict[str, Any], index: int) -> None:
        """Take a turn of the model in."""
        calls = items(message.get("tool_calls"))
        actions = items(mapping(message.get("extra")).get("actions"))
        said = text_of(message.get("content"))
        if not calls:
            blocks = list(self.block.finditer(said))
            follows = any(output(m) for m in self.recorded[index + 1 : index + 2] if isinstance(m, dict))
            if not actions and (len(blocks) == 1 or follows):
                actions = [(block[1] or block[2]).strip() for block in blocks]
            if actions:
                said = without(said, blocks)
            calls = [_call(action, f"{index}.{number}") for number, action in enumerate(actions)]
        kept = {key: value for key, value in message.items() if key not in ("extra", "function_call")}
        self.messages.append({**kept, "content": said.strip(), "tool_calls": calls})
        self.waiting = [call_id for call in calls if (call_id := name(mapping(call).get("id")))]
        self.submits = any(mark in str(call) for call in calls for mark in SUBMIT)
        self.begun = True

    def _result(self, call_id: str, shown: Output) -> None:
        """Give an output to its call, or to the first call of the latest turn that has none yet."""
        if not call_id and self.waiting:
            call_id = self.waiting[0]
        if call_id in self.waiting:
            self.waiting.remove(call_id)
        if not self.waiting:
            self.submits = False
        result = {"content": shown.text, "exit_code": shown.exit_code, "cut": shown.cut}
        self.messages.append({"role": "tool", "tool_call_id": call_id, **result})


def _raw(content: Any) -> str:
    """A message's text as it stands, which is enough to look for a mark."""
    return content if isinstance(content, str) else text_of(content)


def _call(action: Any, spare_id: str) -> dict[str, Any]:
    """A tool call for an action, which has a command and may have the id of the call that it was."""
    entry = mapping(action)
    command = action if isinstance(action, str) else entry.get("command", entry.get("action"))
    if not isinstance(command, str):
        return {"id": spare_id, "function": {"arguments": action}}
    return {"id": name(entry.get("tool_call_id")) or spare_id, "function": {"arguments": command}}


def _from_response(response: dict[str, Any]) -> dict[str, Any]:
    """A turn recorded as a whole object of the Responses interface, as one message."""
    said: list[str] = []
    thought: list[str] = []
    calls: list[dict[str, Any]] = []
    for item in map(mapping, items(response.get("output"))):
        if item.get("type") == "message":
            said.append(text_of(item.get("content")))
        elif item.get("type") == "reasoning":
            thought.append(text_of(item.get("summary")) or text_of(item.get("content")))
        elif item.get("type") == "function_call":
            function = {"name": item.get("name"), "arguments": item.get("arguments")}
            calls.append({"id": name(item.get("call_id")) or name(item.get("id")), "function": function})
    return {
        "role": "assistant",
        "content": "\n".join(filter(None, said)),
        "reasoning_content": "\n".join(filter(None, thought)),
        "tool_calls": calls,
        "extra": response.get("extra"),
    }
