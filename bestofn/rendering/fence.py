"""Keeps recorded text from acting on the judge: marks that it cannot forge, and its own marks and tags made harmless.

A nonce stands in every line that we write. It is a keyed hash of all recorded text, so a repeated run builds the same
prompt, and it is checked to stand nowhere in that text, so no line of the recording can pass for one of ours.
What looks like such a line, an answer tag, a control token of a chat template or hidden text is altered where a
reader sees it: nothing is dropped in silence.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

_CONSONANTS = "bdfgklmnprstvz"
_VOWELS = "aeiou"
_SYLLABLES = 4
"""24 million nonces; a word that can be spoken costs a model fewer tokens than as many hexadecimal digits."""
NONCE = f"(?:[{_CONSONANTS}][{_VOWELS}]){{{_SYLLABLES},6}}"
"""What nonces look like, as a regular expression."""

_WORDS = "record|task|attempt|step|cut|note|preface|begin|end"
"""First words of the lines that we write, behind the nonce."""
_OUR_MARK = re.compile(rf"\[(?=\s*[A-Za-z0-9]{{3,16}}\s+(?:=+\s*)?(?:{_WORDS})\b)", re.IGNORECASE)

# Lines that part a record from a question: === 3f9a2c81 END OF RUN ===.
_RULED_MARK = re.compile(r"(?<!=)={3,}+(?=\s{0,4}[0-9a-f]{6,16}\s)", re.IGNORECASE)
# Every tag that ends like ours (name_3f9a2c81), and the names that judges' answers go by.
_ANSWER_TAG = re.compile(
    r"<(?=(\s{0,8}/?\s{0,8}(?:[A-Za-z][A-Za-z0-9_-]{0,40}_[0-9a-f]{8}(?:_\d{1,4})?|(?:[A-Za-z]{1,20}[_-])?"
    r"(?:score|verdict|answer|grade|rating|judge?ment|judge|letter|preferred|preference|winner|choice|criterion|rubric|evaluation)"
    r"(?:[_-][A-Za-z0-9]{1,20}){0,3})\s{0,8}/?\s{0,8})>)",
    re.IGNORECASE,
)
# Control tokens of chat templates: ChatML and its heirs, Llama, Mistral, Gemma, Phi, DeepSeek, GLM, harmony.
_BAR_TOKEN = re.compile(r"<([|\uff5c])(?=[^\s<>|\uff5c]{1,64}[|\uff5c]>)")
_BAR_END = re.compile(r"(?<=[^\s<>|\uff5c])[|\uff5c]>")
_ANGLE_TOKEN = re.compile(
    r"<(?=(/?(?:s|bos|eos|pad|unk|mask|sep|cls|sop|eop|start_of_turn|end_of_turn|start_of_image|end_of_image|"
    r"think|thinking|reasoning|tool_calls?|tool_response|tool_results?|function_calls?|function_results?|system|user|"
    r"assistant|human|instructions?|start_of_role|end_of_role|end_of_text|extra_id_\d{1,3}|unused\d{1,3}|reserved_\d{1,6}))>)",
    re.IGNORECASE,
)
_SYS_TOKEN = re.compile(r"<<(?=/?SYS>>)")
_SQUARE_TOKEN = re.compile(
    r"\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|THINK|IMG|gMASK|sMASK|CONTROL_\d{1,3})\])"
)
_TURN = re.compile(r"(?m)^(Human|Assistant)(?=:)")

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_INVISIBLE = (
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
)
_TAGS = "\U000e0000-\U000e007f"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
HIDDEN = re.compile(f"[{_BIDI}{_INVISIBLE}{_TAGS}{_SELECTORS}\u200c\u200d]")
"""Characters that no one sees."""
_ALONE = re.compile(
    f"[{_BIDI}{_INVISIBLE}]+|[{_TAGS}]+|[{_SELECTORS}]{{2,}}|(?<![^\x00-\x7f])[{_SELECTORS}]"
    # Joiners have their place between letters of other scripts and in emoji; elsewhere they only hide.
    "|(?<![^\x00-\u02ff\u2000-\u206f])[\u200c\u200d]+|[\u200c\u200d]{2,}|[\u200c\u200d]+(?![^\x00-\u02ff\u2000-\u206f])"
)
_NEVER = re.compile("[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
_LINE_ENDS = re.compile("\r\n?|[\x85\u2028\u2029]")
_SUSPECT = re.compile(
    f"[{_BIDI}{_INVISIBLE}{_TAGS}{_SELECTORS}\u200c\u200d\ud800-\udfff\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]"
)


@dataclass
class Neutraliser:
    """Makes the texts of one prompt harmless and counts what it altered."""

    counts: Counter[str] = field(default_factory=Counter[str])
    """Alterations by kind: hidden text, our marks, answer tag, control token."""

    def reveal(self, text: str) -> str:
        """The text with hidden characters shown as marks such as <U+202E>, and nothing that JSON cannot carry.

        To be done after redaction, which sees through such characters; their marks would split a key in two.
        """
        if text.isascii() and not _SUSPECT.search(text):
            return text
        text = _NEVER.sub("\ufffd", _LINE_ENDS.sub("\n", text))
        return _ALONE.sub(self._show, text)

    def neutralise(self, text: str) -> str:
        """The text with brackets exchanged in whatever looks like our marks, answer tags or control tokens.

        `<` and `>` become ‹ and ›, `[` becomes ⟦, `|` becomes ¦, `===` becomes ≡≡≡: a person reads the same, and a
        parser does not.
        """
        if "<" in text:
            text = self._tags(text)
        if "[" in text:
            text = self._sub(_OUR_MARK, "\u27e6", text, "our marks")
            text = self._sub(_SQUARE_TOKEN, "\u27e6", text, "control token")
        if "===" in text:
            text = self._sub(_RULED_MARK, "\u2261\u2261\u2261", text, "our marks")
        if ":" in text:
            text = self._sub(_TURN, r"\1 ", text, "control token")
        return text

    def _tags(self, text: str) -> str:
        if "|" in text or "\uff5c" in text:
            shown = _BAR_TOKEN.sub("\u2039\xa6", text)
            if shown != text:
                self.counts["control token"] += len(_BAR_TOKEN.findall(text))
                text = _BAR_END.sub("\xa6\u203a", shown)
        text = self._sub(_SYS_TOKEN, "\u2039\u2039", text, "control token")
        # The closing bracket stays: without its opening one it closes nothing.
        text = self._sub(_ANSWER_TAG, "\u2039", text, "answer tag")
        return self._sub(_ANGLE_TOKEN, "\u2039", text, "control token")

    def _sub(self, pattern: re.Pattern[str], shown: str, text: str, kind: str) -> str:
        text, made = pattern.subn(shown, text)
        if made:
            self.counts[kind] += made
        return text

    def _show(self, match: re.Match[str]) -> str:
        """Hidden characters as a mark: their number where there are several, never what they spell."""
        run = match.group()
        self.counts["hidden text"] += 1
        times = f" x{len(run)}" if len(run) > 1 else ""
        return f"<U+{ord(run[0]):04X}{times}>"


def neutralise(text: str) -> tuple[str, Counter[str]]:
    """One text shown and made harmless, and how much was altered by kind."""
    neutraliser = Neutraliser()
    return neutraliser.neutralise(neutraliser.reveal(text)), neutraliser.counts


def nonce(texts: Iterable[str], *, key: bytes = b"") -> str:
    """A word that stands in none of the texts, the same for the same texts.

    Parameters
    ----------
    texts
        Everything recorded that may stand in the prompt.
    key
        Secret of up to 64 bytes for callers who do not want the word to be foreseeable from the texts.
    """
    kept = list(texts)
    seed = hashlib.blake2b(key=key, digest_size=16, person=b"bestofn nonce")
    for text in kept:
        raw = text.encode("utf-8", errors="surrogatepass")
        seed.update(len(raw).to_bytes(8, "big"))
        seed.update(raw)
    for attempt in range(1000):
        word = _word(hashlib.blake2b(seed.digest() + attempt.to_bytes(4, "big"), digest_size=8).digest(), attempt)
        if not any(word in text for text in kept):
            return word
    raise AssertionError("no free nonce in a thousand draws")


def fence(text: str, label: str, word: str) -> str:
    """The text between two lines that only we can write.

    `text` must be neutralised; `word` comes from `nonce` over all texts of the prompt.
    """
    assert word not in text, "the nonce was drawn without this text"
    return f"[{word} ===== {label} begins =====]\n{text}\n[{word} ===== {label} ends =====]\n"


def _word(digest: bytes, attempt: int) -> str:
    """Syllables from a hash; longer ones where many short words are taken."""
    number = int.from_bytes(digest, "big")
    syllables = _SYLLABLES + min(attempt // 100, 2)
    parts: list[str] = []
    for _ in range(syllables):
        number, consonant = divmod(number, len(_CONSONANTS))
        number, vowel = divmod(number, len(_VOWELS))
        parts.append(_CONSONANTS[consonant] + _VOWELS[vowel])
    return "".join(parts)
