"""
Take secrets out of values before they are written.

Values of the model are redacted, not their reports: what is cut, folded or escaped in a report would no
longer be found. Secrets are found by the values of variables, and by patterns of what secrets look like.
Neither is complete. The patterns run in linear time on any text: no open quantifier stands beside another
that matches the same letters, and unbounded ones begin at a word boundary.
"""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar
from urllib.parse import quote

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.reports.model_texts import rewritten

_START = r"(?<![A-Za-z0-9])"
_QUOTES = r"[\"'\\]{0,3}"
_IS = _QUOTES + r"\s{0,9}[:=]\s{0,9}" + _QUOTES
_KEY = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"

# By their names; of a pattern with a group that alone is the secret.
LIKENESSES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern)
    for name, pattern in {
        "private key": rf"-----BEGIN {_KEY}[\s\S]*?(?:-----END {_KEY}|\Z)",
        "AWS key id": rf"{_START}(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}(?![A-Za-z0-9])",
        "AWS secret key": rf"(?i:secret_?access_?key){_IS}([A-Za-z0-9/+]{{40}})",
        "GitHub token": rf"{_START}(?:gh[pousr]_[A-Za-z0-9]{{20,}}|github_pat_[A-Za-z0-9_]{{20,}})",
        "GitLab token": rf"{_START}glpat-[A-Za-z0-9_-]{{20,}}",
        "Slack token": rf"{_START}xox[abeoprs]-[A-Za-z0-9-]{{10,}}",
        "Slack address": r"hooks\.slack\.com/services/([A-Za-z0-9/_-]{20,})",
        "API key": rf"{_START}sk-[A-Za-z0-9_-]{{20,}}",
        "Google key": rf"{_START}AIza[A-Za-z0-9_-]{{35}}",
        "npm token": rf"{_START}npm_[A-Za-z0-9]{{36}}",
        "PyPI token": rf"{_START}pypi-[A-Za-z0-9_-]{{32,}}",
        "JSON web token": r"(?<![A-Za-z0-9_.-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
        "authorization": (
            rf"(?i:authorization){_IS}(?:(?i:bearer|basic|token|digest|apikey)\s{{1,9}})?([^\s\"'\\,;]{{6,}})"
        ),
        "bearer": rf"{_START}(?i:bearer)\s{{1,9}}([A-Za-z0-9._~+/=-]{{12,}})",
        "password": rf"{_START}[A-Za-z][A-Za-z0-9+.-]{{0,20}}://[^\s/:@\"']{{0,200}}:([^\s/@\"']{{1,500}})@",
    }.items()
}


_T = TypeVar("_T")

# Shorter values, and shorter lines of longer ones, also occur in texts by chance.
_SHORTEST, _SHORTEST_LINE = 6, 16
# A piece of a secret just before a cut: at the end of a text, or before a sign for a cut.
_SHORTEST_PIECE = 4
_CLIPPED = re.compile(r"(?<!\.)\.\.\.")
# No text is clipped to more; in a longer one the search may take long.
_LONGEST_CLIPPED = 8000
_SECRET = re.compile(
    r"TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|(?:API|ACCESS|PRIVATE|SIGNING|ENCRYPTION)_?KEY|CREDENTIAL"
    r"|AUTHORIZATION|(?:^|_)(?:AUTH|PASS|PAT|DSN)(?:_|$)|_(?:PWD|KEY)$|CONNECTION_STRING|WEBHOOK",
    re.IGNORECASE,
)
# Values in commands, settings and options; only those with a digit count, because code has names there.
_ASSIGNED = (
    re.compile(
        r"(?<![A-Za-z0-9_$])([A-Z][A-Z0-9_]{2,60})=[\"']?([\w+/.~!@#%^*:-]{8,200})(?=[\s\"'`;&|)]|\Z)"
    ),
    re.compile(r"\b([A-Za-z][\w-]{2,60})[\"']?\s?[:=]\s?[\"']([^\"'\s\\]{8,200})[\"']"),
    re.compile(r"(?<![\w-])--([a-z][a-z-]{2,40})[= ][\"']?([^\s\"'$-][^\s\"']{7,200})"),
)
# They say where something is, or how much.
_HARMLESS = re.compile(r"(?:_SOCK|_FILE|_PATH|_DIR|_HOME)$", re.IGNORECASE)
_NUMBER = re.compile(r"TOKENS", re.IGNORECASE)
# What Python, JavaScript and JavaScript for whole addresses leave as it is in an address.
_UNQUOTED = ("", "/", "!'()*", ";,/?:@&=+$!*'()#")


@dataclass(frozen=True, slots=True)
class Secrets:
    """
    Secrets known by value.

    Attributes:
        forms: Each form in which one of them may stand in a text, with its name; the longest first.
        encoded: Forms that a program may have broken into lines.
        one_word: Whether what replaces a secret is one word, for texts that programs read.
    """

    forms: tuple[tuple[str, str], ...] = ()
    encoded: tuple[tuple[str, str], ...] = ()
    one_word: bool = False

    def name(self, secret: str) -> str:
        """Return what stands in the place of a secret, given its name."""
        return f"redacted-{secret.replace(' ', '-')}" if self.one_word else f"[redacted: {secret}]"


def find_secrets(*environments: Mapping[str, str], words: Iterable[str] = ()) -> Secrets:
    """Return the secrets in environment variables, found by their names; ``words`` are never secrets."""
    harmless = frozenset(words)
    forms: dict[str, str] = {}
    encoded: dict[str, str] = {}
    for environment in environments:
        for name, value in environment.items():
            if _is_secret(name, value) and value.strip() not in harmless:
                forms |= {form: name for form in _forms(value.strip()) if form not in forms}
                encoded |= {form: name for form in _encoded(value.strip()) if form not in encoded}
    return Secrets(_longest_first(forms), _longest_first(encoded))


def find_assigned(texts: Iterable[str]) -> Mapping[str, str]:
    """Return values that texts give to names, as ``DB_PASSWORD=s3cret``; of one name several, numbered."""
    found: dict[str, str] = {}
    for text in texts:
        for name, value in (pair for pattern in _ASSIGNED for pair in pattern.findall(text)):
            word = name.replace("-", "_")
            if re.search(r"\d", value) and _is_secret(word, value) and value not in found.values():
                found[f"{word} {len(found)}" if word in found else word] = value
    return found


def has_secrets(text: str) -> bool:
    """Return whether a text has anything that looks like a secret, or gives a value to the name of one."""
    return any(pattern.search(text) for pattern in LIKENESSES.values()) or bool(find_assigned([text]))


def _is_secret(name: str, value: str) -> bool:
    counted = _NUMBER.search(name) and value.strip().isdigit()
    named = _SECRET.search(name) and not _HARMLESS.search(name)
    return bool(named) and not counted and len(value.strip()) >= _SHORTEST


def _longest_first(forms: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(forms.items(), key=lambda pair: (-len(pair[0]), pair)))


def _forms(value: str) -> Iterator[str]:
    lines = [line.strip() for line in value.splitlines()]
    for text in (value, *(line for line in lines if len(line) >= _SHORTEST_LINE)):
        yield text
        for ascii_only in (True, False):
            once = _escaped(text, ascii_only)
            yield from (once, _escaped(once, ascii_only))
        yield shlex.quote(text).strip("'")
        for unquoted in _UNQUOTED:
            address = quote(text, safe=unquoted, errors="replace")
            yield from (address, address.replace("%20", "+"))


def _escaped(text: str, ascii_only: bool) -> str:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def _encoded(value: str) -> Iterator[str]:
    """Yield the base64 letters of a value that do not depend on its neighbours, for each alignment."""
    data = value.encode("utf-8", "surrogateescape")
    for offset in range(3):
        letters = base64.b64encode(bytes(offset) + data).decode()
        # A letter holds six bits; those of the first and the last may belong to neighbours as well.
        first, last = (8 * offset + 5) // 6, 8 * (offset + len(data)) // 6
        form = letters[first:last]
        yield form
        yield form.translate(str.maketrans("+/", "-_"))


def redact(text: str, secrets: Secrets, *, cut: bool = False) -> str:
    """
    Return a text without known secrets and without what looks like one.

    If the text was ``cut``, a piece of a secret may stand at its end.
    """
    ends = [len(text)] if cut else []
    if len(text) <= _LONGEST_CLIPPED:
        ends += [found.start() for found in _CLIPPED.finditer(text)]
    pieces = (piece for end in ends for piece in _pieces(text, end, secrets))
    spans = sorted((*_known(text, secrets), *_alike(text), *pieces))
    return _replace_spans(text, spans, secrets) if spans else text


def _replace_spans(text: str, spans: Iterable[tuple[int, int, str]], secrets: Secrets) -> str:
    parts: list[str] = []
    done = 0
    for start, end, name in spans:
        if start >= done:
            parts += [text[done:start], secrets.name(name)]
        done = max(done, end)
    return "".join([*parts, text[done:]])


def _known(text: str, secrets: Secrets) -> Iterator[tuple[int, int, str]]:
    for form, name in secrets.forms:
        start = text.find(form)
        while start >= 0:
            yield start, start + len(form), name
            start = text.find(form, start + 1)
    if not secrets.encoded:
        return
    joined = re.sub(r"\\[rn]|\s", "", text)
    for form, name in secrets.encoded:
        if form in joined:
            broken = r"(?:\\[rn]|\s)*".join(map(re.escape, form))
            yield from ((*found.span(), name) for found in re.finditer(broken, text))


def _alike(text: str) -> Iterator[tuple[int, int, str]]:
    for name, pattern in LIKENESSES.items():
        for found in pattern.finditer(text):
            yield (*found.span(pattern.groups), name)


def _pieces(text: str, end: int, secrets: Secrets) -> Iterator[tuple[int, int, str]]:
    """Return the longest prefix of a secret just before the place where the text was cut."""
    for form, name in (*secrets.forms, *secrets.encoded):
        shortest = form[:_SHORTEST_PIECE]
        start = text.find(shortest, max(0, end - len(form) + 1), end)
        while start >= 0 and not form.startswith(text[start:end]):
            start = text.find(shortest, start + 1, end)
        if start >= 0:
            yield start, end, name


def redacted(value: _T, secrets: Secrets) -> _T:
    """Return a value of the model without secrets in its texts; the same object if it had none."""
    return rewritten(value, lambda text, cut: redact(text, secrets, cut=cut))
