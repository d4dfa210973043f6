"""
State files that may make a loop active, each with the place from which its contents are known.

They get a small limit, so that sessions are short. A loop is also tried with 0 where a document or a script
says that this is no limit.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from pytest_hookharness.campaigns.arming.home_paths import home_files
from pytest_hookharness.campaigns.arming.state_contents import LISTS, StateContents, finished, parsed
from pytest_hookharness.campaigns.arming.state_examples import Example, examples
from pytest_hookharness.campaigns.arming.state_fields import state_reads
from pytest_hookharness.campaigns.arming.state_names import LIMIT, SESSION, is_limit
from pytest_hookharness.campaigns.arming.state_paths import HookScript, looked_for
from pytest_hookharness.campaigns.arming.state_values import AskedField, asked_values
from pytest_hookharness.campaigns.short_texts import in_one_line
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.fast_dataclass import dataclass

# Names of files that end a loop, or that only change how it runs.
_OTHERS = re.compile(
    r"(?:^|[/._-])(?:stop|cancel|done|disabled?|off|paused?|skip|bypass|completed?|abort|exit|kill|transition"
    r"|config|template)",
    re.IGNORECASE,
)
# What stands in no text for a person.
_CODE = re.compile(r"```|^[ \t]*\{|^\w+\(", re.MULTILINE)
_MOST, _LONGEST = 8, 160
# What speaks for an example: that it names the file, with its folder; each field that the hook reads; and
# against it: that its words are about an end.
_NAMED, _WHOLE, _FIELD, _ENDING, _MOST_FIELDS, _FEWEST = 12, 4, 3, 8, 6, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopState:
    """
    Files that may make hooks active.

    Attributes:
        files: Their texts, by path in the project; those below HOME begin with ``~/``.
        origin: From where the texts are known, as in "as commands/start.md says".
        script: The script of the hook that looks for the first of them.
        verbatim: Whether only placeholders of an example were filled in.
        finished: Those that a model changes when the work is done, as far as that can be told.
    """

    files: Mapping[str, str]
    origin: str
    script: str
    verbatim: bool = False
    finished: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What was activated, in words that follow "with"."""
        told = (f"{path}: {_summary_of(text)}" for path, text in self.files.items())
        return f"{' and '.join(told)}, {self.origin}"


def _summary_of(text: str) -> str:
    try:
        words = json.dumps(json.loads(text))
    except ValueError:
        lines = [line.strip() for line in text.splitlines() if line.strip() and line.strip() != "---"]
        words = "; ".join(lines) or "(empty)"
    return in_one_line(words.replace(SESSION, "(this session)"), _LONGEST)


def state_files(hook_set: HookSet, of: Sequence[HookScript]) -> list[LoopState]:
    """Return files that may make the hooks with some scripts active, the most likely first."""
    wanted = [(script, [*looked_for(hook_set, script), *home_files(hook_set, script)]) for script in of]
    known = examples(hook_set) if any(paths for _, paths in wanted) else []
    ranked: list[tuple[int, int, LoopState]] = []
    for script, paths in wanted:
        asked = asked_values(state_reads(script.text)) if paths else {}
        for place, path in enumerate(path for path in paths if not _OTHERS.search(posixpath.basename(path))):
            found = _of_path(path, script, asked, known)
            ranked += [(rank, place, one) for rank, one in enumerate(found)]
    ranked.sort(key=lambda one: one[:2])
    unique = {(*sorted(one.files.items()), one.script): one for *_, one in reversed(ranked)}
    return sorted(unique.values(), key=[one for *_, one in ranked].index)[:_MOST]


def _of_path(
    path: str, script: HookScript, asked: Mapping[str, AskedField], known: Sequence[Example]
) -> Iterator[LoopState]:
    """Yield what may stand in one file: its example, the example as the hook asks for it, or the fields."""
    example = _best(path, asked, known)
    of_document = (one for one in known if example is not None and one.source == example.source)
    lists = [one.path for one in of_document if "- [ ]" in one.text and LISTS.search(one.path)]
    contents = StateContents(path=path, asked=asked, lists=lists)

    def made(files: Mapping[str, str], origin: str, *, verbatim: bool = False) -> LoopState:
        over = finished(files, asked)
        return LoopState(files=files, origin=origin, script=script.name, verbatim=verbatim, finished=over)

    if example is not None:
        said = f"as {example.source} says"
        yield made(contents.of_example(example.text, strict=False), said, verbatim=True)
        yield made(contents.of_example(example.text, strict=True), f"{said} and {script.name} compares it")
    if files := contents.of_source(script.text):
        yield made(files, f"as {script.name} reads it")


def _best(path: str, asked: Mapping[str, AskedField], known: Sequence[Example]) -> Example | None:
    """Return the best example of a file: one that names it, or one with its fields."""
    scored = [(_score(path, asked, one), -place, one) for place, one in enumerate(known)]
    good = [each for each in scored if each[0] > 0 and _suits(path, each[2].text, asked)]
    return max(good, key=lambda each: each[:2])[2] if good else None


def _score(path: str, asked: Mapping[str, AskedField], example: Example) -> int:
    exact = path == example.path
    named = exact or (bool(example.path) and path.endswith(f"/{example.path}"))
    fields = example.keys.intersection(key.rpartition(".")[2] for key in asked)
    if not named and (example.path or len(fields) < _FEWEST):
        return 0
    return (
        _NAMED * named + _WHOLE * exact + _FIELD * min(len(fields), _MOST_FIELDS) - _ENDING * example.ending
    )


def _suits(path: str, text: str, asked: Mapping[str, AskedField]) -> bool:
    """Return whether a text can stand in a file with that name."""
    if path.endswith(".json"):
        return text.lstrip().startswith("{") and parsed(text) is not None
    if not text.strip():
        return not asked or "." not in posixpath.basename(path).lstrip(".")
    return not _CODE.search(text)


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
