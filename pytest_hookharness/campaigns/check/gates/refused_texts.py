"""
Stop hooks that search files for texts, in sessions where the agent writes such texts and leaves them.

The texts are those that match the patterns in the scripts, and are only guesses. A session is kept if the
stop is refused with them, and allowed with other texts in the same files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import role_of
from pytest_hookharness.campaigns.arming.project_texts import read_known_text
from pytest_hookharness.campaigns.check.failing_gates import changed_places
from pytest_hookharness.campaigns.check.session_scenario import short_scenario_of
from pytest_hookharness.campaigns.guards.pattern_texts import find_texts
from pytest_hookharness.model.checkup import CheckSession, HookSet
from pytest_hookharness.model.moves import Edit, RunCommand
from pytest_hookharness.model.protocol import Hook

# Commands that search files or differences for a text.
_SEARCHES = re.compile(
    r"\b(?:[ef]?grep|rg|ag|ack)\b|\bre\.|\.test\(|\.match\(|\bin\s+(?:line|content|text|diff)\b"
)
# What a script of shell writes in pieces, so that it does not find itself.
_CONFLICT = "<<<<<<< HEAD"
_WORDS = re.compile(r"[A-Za-z]{3}|[<>=]{7}")
_SHORTEST, _LONGEST, _MOST, _MOST_KINDS = 3, 80, 40, 2
_TITLE = "texts that hooks search for, in files of the agent"
_WAY_OUT = "removes these texts from its files"
# Some hooks look only at what is staged, and others only at what is not.
_STAGED = "staged"
_STAGE = RunCommand(command=f"git add -- '*{_STAGED}.*'")
# A file that most projects have.
_KNOWN = "README.md"


def plan_refused_texts(hook_set: HookSet, waiting: Sequence[Hook]) -> Iterator[CheckSession]:
    """Yield two short sessions in which the agent changes files: with the texts of patterns, and without."""
    hooks = [hook for hook in waiting if role_of(hook_set.host, hook.event) is hosts.Role.STOP]
    sources = [text for hook in hooks for text in hook_set.scripts_of(hook) if _SEARCHES.search(text)]
    if texts := _texts(sources):
        places = [*islice(changed_places("\n".join(sources)), _MOST_KINDS), ("", "txt")]
        files = [f"{place}{name}.{kind}" for name in ("changed", _STAGED) for place, kind in places]
        for title, lines in ((_TITLE, texts), ("other texts in the same files", ["text"] * len(texts))):
            new = [Edit(file=file, text="\n".join([*lines, ""])) for file in files]
            scenario = short_scenario_of(hook_set, [*_known(hook_set, lines), *new, _STAGE])
            yield CheckSession(title=title, scenario=scenario, ends=False, proof=True, way_out=_WAY_OUT)


def _texts(sources: Sequence[str]) -> list[str]:
    found = [_CONFLICT] if any("conflict" in source.lower() for source in sources) else []
    # The first line names the interpreter.
    found += [one for source in sources for one in find_texts(source.partition("\n")[2])]
    return [
        one
        for one in dict.fromkeys(found)
        if _SHORTEST <= len(one) <= _LONGEST and "\n" not in one and _WORDS.search(one)
    ][:_MOST]


def _known(hook_set: HookSet, lines: Sequence[str]) -> Iterator[Edit]:
    """Yield a change of a file that the project had before, as some hooks only look at such changes."""
    if not hook_set.plugin and (text := read_known_text(hook_set.root / _KNOWN)):
        yield Edit(file=_KNOWN, text="\n".join([text.rstrip("\n"), *lines, ""]))
