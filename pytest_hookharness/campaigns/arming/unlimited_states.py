"""
States without a limit: a loop is also tried with 0 where a document or a script says that this is no limit.

Other states of loops get a small limit, so that their sessions are short.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pytest_hookharness.campaigns.arming.state_files import LoopState
from pytest_hookharness.campaigns.arming.state_names import LIMIT, is_limit

_NUMBER = re.compile(rf"(?P<head>(?<![\w-])(?P<key>[A-Za-z][\w-]*)\"?[ \t]*[:=][ \t]*){LIMIT}\b")
# Behind the name: "(number, default 0 for unlimited)", "0 = no limit", "unlimited if 0".
_NONE = r"\b(?:unlimited|infinite|forever|no limit|no maximum)\b"
_NO_LIMIT = (
    r"(?<![\w-]){0}(?![\w-])[^\n]{{0,80}}?"
    rf"(?:\b0\b[^\n\d]{{{{0,24}}}}?{_NONE}|{_NONE}[^\n\d]{{{{0,24}}}}?\b0\b)"
)
# A script that asks for the limit only if it is above 0, as in `[ "$MAX" -gt 0 ] && [ "$N" -ge "$MAX" ]`.
_ONLY_ABOVE = re.compile(
    r"(?<![\w.])\$?\{?(?:\w+\.)*(?P<name>[A-Za-z_]\w*)\}?\"?[ \t]*(?:-gt|>)[ \t]*0[^\n\w]{0,8}(?:&&|\band\b)"
)


def has_limit(state: LoopState) -> bool:
    """Return whether a state has a limit, in whose place 0 may mean none."""
    return any(is_limit(found["key"]) for text in state.files.values() for found in _NUMBER.finditer(text))


def without_limit(state: LoopState, words: str) -> Iterator[LoopState]:
    """Yield a state with 0 in the place of its limit, if the words of its project say that this is none."""
    texts = {path: _unlimited(text, words) for path, text in state.files.items()}
    if texts != state.files:
        yield replace(state, files=texts, origin=f"{state.origin}, with 0 for no limit")


def _unlimited(text: str, words: str) -> str:
    names = {_plain(found["name"]) for found in _ONLY_ABOVE.finditer(words)}

    def changed(found: re.Match[str]) -> str:
        said = _NO_LIMIT.format(re.escape(found["key"]))
        none = is_limit(found["key"]) and (
            _plain(found["key"]) in names or re.search(said, words, re.IGNORECASE)
        )
        return f"{found['head']}0" if none else found[0]

    return _NUMBER.sub(changed, text)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()
