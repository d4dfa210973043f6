"""
Variables with which a person makes a guard refuse that otherwise only warns, as its script compares them.

Only names that say so count: with others, a variable may as well switch the guard off.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pytest_hookharness.model.checkup import CheckSession, HookSet
from pytest_hookharness.model.fast_dataclass import dataclass

_NAME = r"(?P<name{0}>[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*(?:BLOCK|STRICT|ENFORCE|DENY|HARD)(?:_MODE)?)"
_VALUE = r"[\"']?(?P<value{0}>1|true|yes|on|block|strict|deny|enforce|hard)[\"']?(?![\w-])"
_COMPARED = re.compile(
    # Of a shell, Python and JavaScript.
    rf"\"?\$\{{?{_NAME.format(1)}(?::?-[^}}\n]*)?\}}?\"?[ \t]*(?:==?|-eq)[ \t]*{_VALUE.format(1)}"
    rf"|(?:environ\.get\(|getenv\(|environ\[)[ \t]*[\"']{_NAME.format(2)}[\"']"
    rf"[^\n]{{0,40}}?==[ \t]*{_VALUE.format(2)}"
    rf"|process\.env\.{_NAME.format(3)}[ \t]*={{2,3}}[ \t]*{_VALUE.format(3)}"
)
_COMMENT = re.compile(r"^[ \t]*(?:#|//|\*)[^\n]*", re.MULTILINE)
_SWITCHES_OFF = re.compile(r"(?:^|_)(?:NO|SKIP|DISABLE|ALLOW|IGNORE|UN)(?:_|$)")


@dataclass(frozen=True, slots=True)
class GuardRules:
    """
    What guards are tried with, besides the project as it is.

    Attributes:
        files: Files of rules as in the plugin's examples, by path in the project.
        env: Variables with which guards refuse.
    """

    files: Mapping[str, str]
    env: Mapping[str, str]

    def among(self, sessions: Iterable[CheckSession]) -> list[CheckSession]:
        """Return sessions with these rules."""
        told = [f"{', '.join(sorted(self.files))} as in the examples"] if self.files else []
        told += [f"{name}={value}" for name, value in self.env.items()]
        return [self._in(session, " and ".join(told)) if told else session for session in sessions]

    def _in(self, session: CheckSession, active: str) -> CheckSession:
        scenario = session.scenario
        files, env = {**scenario.files, **self.files}, {**scenario.env, **self.env}
        return replace(session, scenario=replace(scenario, files=files, env=env), active=active)


def guard_rules(hook_set: HookSet, activated: Iterable[CheckSession]) -> GuardRules:
    """Return all rules from examples, as guards refuse what rules name, and the variables of the guards."""
    files = {path: text for one in activated for path, text in one.scenario.files.items()}
    return GuardRules(files, guard_switches(hook_set))


def guard_switches(hook_set: HookSet) -> dict[str, str]:
    """Return the variables with which guards refuse, and their values; none that the settings give."""
    given = {name for hook in hook_set.hooks for name in hook.env}
    found: dict[str, str] = {}
    for _, text in hook_set.sources:
        for one in _COMPARED.finditer(_COMMENT.sub("", text)):
            name = one["name1"] or one["name2"] or one["name3"]
            value = one["value1"] or one["value2"] or one["value3"]
            if name not in given and not _SWITCHES_OFF.search(name):
                found.setdefault(name, value)
    return found
