"""Tells what a command was for: changing something, checking it, looking at it, taking notes, or handing the work in.

Shell lines are read by their words, tool calls by the words of the tool's name. Whatever is none of these is OTHER,
so that an unknown tool is never taken for a check.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

import re2

from bestofn.featurize.patterns import Matcher, encode
from bestofn.trajectory import Command, Step


class Activity(StrEnum):
    """What a command does to the work."""

    EDIT = "edit"
    """Changes the content of a file or a record. Clearing up (rm, chmod) and installing are OTHER."""
    CHECK = "check"
    """Runs something whose outcome tells whether the work is right: tests, a compiler, a comparison, the program."""
    READ = "read"
    """Looks at files or records."""
    END = "end"
    """Hands the work in."""
    NOTE = "note"
    """Keeps the agent's own notes: todo lists, plans, thoughts."""
    OTHER = "other"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_EDIT_WORDS = _words(
    "write edit patch multipatch multiedit create replace overwrite insert append update modify rename move save put"
    " set apply undo book cancel exchange return send delete remove add notebookedit"
)
_CHECK_WORDS = _words("test tests check verify validate lint diagnostics compile build run execute calculate")
_READ_WORDS = _words("read view get list ls glob grep search find fetch open cat show lookup query browse")
_END_WORDS = _words("finish submit complete completion done terminate exit")
_NOTE_WORDS = _words("todo todos plan think thought thinking memory")
_OTHER_WORDS = _words("skill agent task")
_WORD = re2.compile(r"[A-Z]?[a-z]+|[A-Z]+")

_SHELL_TOOL = re2.compile(
    r"(?i)(?:.*[_.:/-])?(?:bash|shell|sh|zsh|terminal|powershell|console)(?:[_.:-](?:command|exec|tool|run))?"
    r"|(?:run|exec|execute)[_-]?(?:command|cmd|bash|shell)|exec|.*[_.]exec"
)
_CODE_TOOL = re2.compile(r"(?i).*(?:python|jupyter|notebook_cell|code_interpreter|execute_code|run_code).*")

# A shell command begins a line, or follows a separator, and may stand behind words that only wrap it.
_HEAD = (
    r"(?m)(?:^|[;&|(]|-l?c\s+[\"'])\s*(?:(?:sudo|time|nohup|exec|then|do|else|env|xargs|timeout(?:\s+-\S+)*\s+\S+"
    r"|[A-Za-z_][A-Za-z0-9_]*=[^\s;&|]*)\s+)*"
)
_EDITS = _HEAD + (
    r"(?:sed\s+(?:-\S+\s+)*(?:-[a-zA-Z]*i|--in-place)|perl\s+(?:-\S+\s+)*-[a-zA-Z0-9]*i|(?:apply_)?patch\b"
    r"|git\s+(?:-\S+\s+\S+\s+)*(?:apply|am|checkout|restore|revert|reset|merge|rebase|cherry-pick|commit|mv|push)\b"
    r"|tee\s+(?:-a\s+)?[^\s|/-]|tee\s+(?:-a\s+)?/[^d\s]|(?:cp|mv|dd|truncate|ln)\s|(?:vim?|nano|emacs|ed|ex)\s+\S)"
)
_CHECKS = _HEAD + (
    r"(?:(?:\S*/)?(?:pytest|py\.test|tox|nox|jest|vitest|mocha|rspec|phpunit|ctest|make|ninja|mvn|gradle|gradlew"
    r"|g?cc|g\+\+|clang(?:\+\+)?|rustc|javac|tsc|ghc|gfortran|nvcc|coqc|mypy|ruff|flake8|pylint|eslint|shellcheck"
    r"|diff|cmp|comm|md5sum|sha\d+sum|test|python[0-9.]*|node|deno|ruby|Rscript|java|php|lua|julia|psql|sqlite3|mysql"
    r"|redis-cli|ss|netstat|lsof|pgrep|nc)(?:\s|$)"
    r"|(?:npm|yarn|pnpm|bun|npx|cargo|go|dotnet|lake|swift|zig|uv|poetry)\s+(?:run\s+)?(?:test|check|build|run|vet|lint|clippy)\b"
    r"|cmake\s+--build|\[\[?\s|(?:bash|sh|zsh)\s+[^\s-]|perl\s+[^\s-]|\.{1,2}/\S|systemctl\s+(?:\S+\s+)*(?:status|is-active)"
    r"|curl\s[^\n;&|]*(?:localhost|127\.0\.0\.1|0\.0\.0\.0))"
)
_READS = _HEAD + (
    r"(?:cat\s+[^\s<>|&]|(?:head|tail|less|more|awk|e?grep|rg|find|ls|tree|wc|file|stat|xxd|od|hexdump|strings|nl|jq|du|df"
    r"|readelf|objdump|nm|ps)(?:\s|$)|sed\s+-n\b|git\s+(?:-\S+\s+\S+\s+)*(?:status|log|diff|show|blame|ls-files|branch)\b)"
)
_ENDS = r"COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT|\A\s*(?:exit|logout|submit)\s*\z"
_CODE_EDITS = (
    r"\bopen\([^)\n]*,\s*(?:mode=)?[\"'][waxr]b?\+|\bopen\([^)\n]*,\s*(?:mode=)?[\"'][wax]"
    r"|\.write_(?:text|bytes)\(|\.to_(?:csv|json|parquet|excel|pickle|sql)\(|\b(?:json|pickle|yaml)\.dump\("
    r"|\b(?:np|torch|joblib)\.(?:save|dump)|\bwriteFile(?:Sync)?\(|\bshutil\.(?:copy|move)|\bos\.(?:rename|replace)\("
)
_SHELL = Matcher((_EDITS, _CHECKS, _READS, _ENDS, _CODE_EDITS))
_MEANINGS = (Activity.EDIT, Activity.CHECK, Activity.READ, Activity.END, Activity.EDIT)
_CODE_EDIT = 4

_QUOTED = re2.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
_REDIRECT = re2.compile(r"(?:^|[^<>&=0-9-])>>?\|?\s*([^\s&;|<>()=]+)")
_SCRATCH = re2.compile(r"\A(?:/dev/|/tmp/)|\.log\z")
_HEREDOC = re2.compile(r"<<-?\s*[\"']?([A-Za-z_]\w*)[\"']?")
_INTERPRETER = re2.compile(r"\b(?:python[0-9.]*|node|ruby|perl|bash|sh|Rscript|php)\b[^|>]*<<")
_PROSE = re2.compile(r"(Create|Overwrite|Replace|Multi-patch|Patch|Read|Search for|Remove) [^\n]{1,300}")


@lru_cache(maxsize=4096)
def is_shell(tool: str) -> bool:
    """True where the tool runs a shell line, or the format has no tool names."""
    return not tool or _SHELL_TOOL.fullmatch(tool) is not None


def activities(command: Command) -> tuple[Activity, ...]:
    """What one command does, in the order in which it does it; never empty."""
    if is_shell(command.tool):
        return _of_shell(command.text)
    if _CODE_TOOL.fullmatch(command.tool):
        found = _SHELL.found(encode(command.text))
        return (Activity.CHECK, Activity.EDIT) if _CODE_EDIT in found else (Activity.CHECK,)
    return (_of_tool(command),)


def prose(step: Step) -> Activity | None:
    """What a step without commands did, where its first line is a tool's report such as `Create main.py`."""
    if step.commands:
        return None
    line = _PROSE.match(step.message)
    if line is None:
        return None
    if line[1] in ("Read", "Search for"):
        return Activity.READ
    return Activity.OTHER if line[1] == "Remove" else Activity.EDIT


def _of_tool(command: Command) -> Activity:
    """By the first telling word of the tool's name; an editor with a `view` command reads."""
    words = [word.lower() for word in _WORD.findall(command.tool)]
    arguments = command.arguments or {}
    if arguments.get("command") == "view":
        return Activity.READ
    if words[:1] == ["mark"] or words[:1] == ["attempt"]:
        words = words[1:]
    for word in words:
        if word in _END_WORDS or words[-1] == "complete":
            return Activity.END
        if word in _NOTE_WORDS or words[-1] in _NOTE_WORDS:
            return Activity.NOTE
        if word in _OTHER_WORDS or words[-1] in _OTHER_WORDS:
            return Activity.OTHER
        if word in _EDIT_WORDS or word in ("str", "editor"):
            return Activity.EDIT
        if word in _READ_WORDS:
            return Activity.READ
        if word in _CHECK_WORDS:
            return Activity.CHECK
    return Activity.OTHER


def _of_shell(text: str) -> tuple[Activity, ...]:
    """By the words of a shell line, here-documents that are only written to a file left out."""
    line = encode(_without_documents(text))
    found = [(end, _MEANINGS[index]) for index in _SHELL.found(line) for _, end in _SHELL.spans(index, line)]
    bare = _QUOTED.sub(lambda match: b" " * len(match.group()), line) if b">" in line else b""
    targets = ((match.end(), match.group(1)) for match in _REDIRECT.finditer(bare))
    found.extend((end, Activity.EDIT) for end, target in targets if not _SCRATCH.search(target))
    return tuple(activity for _, activity in sorted(found)) or (Activity.OTHER,)


def _without_documents(text: str) -> str:
    """The text without the bodies of here-documents, save those that an interpreter runs."""
    if "<<" not in text:
        return text
    kept: list[str] = []
    end: str = ""
    for line in text.split("\n"):
        if end:
            if line.strip() == end:
                end = ""
            continue
        kept.append(line)
        opened = _HEREDOC.search(line)
        if opened and not _INTERPRETER.search(line):
            end = opened[1]
    return "\n".join(kept)
