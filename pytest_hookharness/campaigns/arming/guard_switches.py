"""
Variables and files with which a person makes a guard refuse that otherwise only warns, or does nothing.

A variable that a script compares counts only if its name says so: others may switch the guard off. A variable
without which a script ends at once may have any name, unless hosts, terminals or services set it.
A file counts if shell scripts of guards end at once without it and ask nothing else of it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace

from pytest_hookharness.campaigns.arming.project_texts import COMMENT_LINES, read_known_text
from pytest_hookharness.campaigns.arming.state_paths import folder_of, is_state
from pytest_hookharness.model.checkup import CheckSession, HookSet
from pytest_hookharness.model.fast_dataclass import dataclass

_NAME = r"(?P<name{0}>[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*(?:BLOCK|STRICT|ENFORCE|DENY|HARD)(?:_MODE)?)"
_VALUE = r"[\"']?(?P<value{0}>1|true|yes|on|block|strict|deny|enforce|hard)[\"']?(?![\w-])"
_COMPARED = re.compile(
    # In a shell, Python and JavaScript.
    rf"\"?\$\{{?{_NAME.format(1)}(?::?-[^}}\n]*)?\}}?\"?[ \t]*(?:==?|-eq)[ \t]*{_VALUE.format(1)}"
    rf"|(?:environ\.get\(|getenv\(|environ\[)[ \t]*[\"']{_NAME.format(2)}[\"']"
    rf"[^\n]{{0,40}}?==[ \t]*{_VALUE.format(2)}"
    rf"|process\.env\.{_NAME.format(3)}[ \t]*={{2,3}}[ \t]*{_VALUE.format(3)}"
)
# A script that ends at once without a variable.
_LEAVES = r"(?:exit(?:[ \t]+0)?[ \t]*(?:;|$)|(?:sys\.)?exit\(0?\)|process\.exit\(0?\))"
_UNSET = re.compile(
    rf"\[\[?[ \t]+-z[ \t]+\"?\$\{{?(?P<name1>[A-Z]\w+)(?::?-)?\}}?\"?[ \t]+\]\]?"
    rf"(?:[ \t]*&&[ \t]*|;?\s+then\s+){_LEAVES}"
    rf"|\[\[?[ \t]+-n[ \t]+\"?\$\{{?(?P<name2>[A-Z]\w+)(?::?-)?\}}?\"?[ \t]+\]\]?[ \t]*\|\|[ \t]*{_LEAVES}"
    rf"|\bif not os\.(?:environ\.get|getenv)\([\"'](?P<name3>[A-Z]\w+)[\"']\):\s+{_LEAVES}"
    rf"|\bif \(!process\.env\.(?P<name4>[A-Z]\w+)\)[ \t]*\{{?\s*{_LEAVES}",
    re.MULTILINE,
)
# A shell script that ends at once without a file or a folder, and how it names that.
_FILE = r"(?P<file{0}>\"[^\"\n]+\"|[^\s\"']+)[ \t]+\]\]?"
_ABSENT = re.compile(
    rf"^(?:\[\[?[ \t]+-[def][ \t]+{_FILE.format(1)}[ \t]*\|\|[ \t]*{_LEAVES}"
    rf"|(?:if[ \t]+)?(?:\[\[?[ \t]+!|![ \t]+\[\[?)[ \t]+-[def][ \t]+{_FILE.format(2)}"
    rf"(?:[ \t]*&&[ \t]*|;?\s+then\s+){_LEAVES})",
    re.MULTILINE,
)
_FOLDER = re.compile(r"\[[ \t]+(?:![ \t]+)?-d[ \t]")
_PLACE = re.compile(r"(?:\$\{?(?P<variable>\w+)(?::-[^}\n]*)?\}?/)?(?P<path>\.?\w[\w./-]*)")
_KEPT, _DATA = "/.keep", re.compile(r"\.(?:json|ya?ml|toml|env)$")
_ONE_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_GETS = r"^(?:readonly[ \t]+)?{0}=([\"']?)([^\n]+)\1[ \t]*$"
# Variables that hosts, terminals, CI and services set, or whose value only a person knows.
_OF_OTHERS = re.compile(
    r"^(?:CLAUDE|CURSOR|GEMINI|CODEX|COPILOT|QWEN|GITHUB|GITLAB|CI|TMUX|TERM|SSH|WSL|XDG|DISPLAY|HOME|PATH|PWD|USER|SHELL)"
    r"(?:_|$)|(?:TOKEN|KEY|SECRET|PASSWORD|URL|HOST|PORT|WEBHOOK|DIR|ROOT|PATH|FILE|INPUT|COMMAND|CMD)$"
)
_REFUSES = re.compile(r"\bexit[ \t(]+2\b|[\"'](?:deny|block)\\?[\"']")
_SWITCHES_OFF = re.compile(
    r"(?:^|_)(?:NO|NOT|NON|OFF|SKIP|DISABLED?|ALLOW|PERMIT|IGNORE|UN|BYPASS|OVERRIDE|EXEMPT|SUPPRESS|WITHOUT)(?:_|$)"
)
# Where a script itself gives a variable its value; what switches a guard on is said in messages too.
_GIVEN = (
    r"(?<![\w$]){0}:?=(?!=|[\"']?(?:1|true|yes|on)\b)|\b(?:read|mapfile|readarray|getopts)\b[^\n]*\b{0}\b"
    r"|\bfor[ \t]+{0}[ \t]+in\b|\{{{0}:="
)


@dataclass(frozen=True, slots=True)
class GuardRules:
    """
    What guards refuse with: files of rules, variables, and files for whose existence they ask.

    Attributes:
        files: Rules as in the plugin's examples, by path.
    """

    files: Mapping[str, str]
    env: Mapping[str, str]
    marks: Mapping[str, str] = field(default_factory=dict)

    def among(self, sessions: Iterable[CheckSession]) -> list[CheckSession]:
        """Return sessions with these rules."""
        told = [f"{', '.join(sorted(self.files))} as in the examples"] if self.files else []
        told += [f"{name}={value}" for name, value in self.env.items()]
        told += [f"a file {path}" for path in self.marks]
        return [self._in(session, " and ".join(told)) if told else session for session in sessions]

    def _in(self, session: CheckSession, active: str) -> CheckSession:
        scenario = session.scenario
        files, env = {**scenario.files, **self.marks, **self.files}, {**scenario.env, **self.env}
        return replace(session, scenario=replace(scenario, files=files, env=env), active=active)


def guard_rules(hook_set: HookSet, activated: Iterable[CheckSession]) -> GuardRules:
    """Return all rules from examples, as guards refuse what rules name, and what the guards ask for."""
    files = {path: text for one in activated for path, text in one.scenario.files.items()}
    return GuardRules(files, guard_switches(hook_set), guard_marks(hook_set))


def guard_marks(hook_set: HookSet) -> dict[str, str]:
    """Return files without which guards end at once, by path in the project; their text does not matter."""
    codes = [COMMENT_LINES.sub("", text) for _, text in hook_set.sources]
    marks = {code: [*_asked_marks(code)] for code in codes}
    guards = [code for code in codes if _REFUSES.search(code)]
    found: dict[str, str] = {}
    for path in dict.fromkeys(one for code in guards for one in marks[code]):
        mark = posixpath.basename(posixpath.dirname(path) if path.endswith(_KEPT) else path)
        # Other hooks may only mention a document.
        users = codes if _DATA.search(mark) else guards
        asked = sum(marks[code].count(path) for code in users)
        here = not hook_set.plugin and (hook_set.root / path.removesuffix(_KEPT)).exists()
        if is_state(path) and not here and sum(code.count(mark) for code in users) == asked:
            found[path] = read_known_text(hook_set.root / path) or "{}\n"
    return found


def _asked_marks(code: str) -> Iterator[str]:
    """Yield the files in the project without which a script ends at once; of a folder, a file in it."""
    for one in _ABSENT.finditer(code):
        written = (one["file1"] or one["file2"]).strip('"')
        if variable := _ONE_VARIABLE.fullmatch(written):
            given = re.findall(_GETS.format(variable[1]), code, re.MULTILINE)
            used = len(re.findall(rf"\$\{{?{variable[1]}\b", code))
            written = given[0][1] if len(given) == 1 == used else ""
        if place := _PLACE.fullmatch(written):
            path = posixpath.normpath(posixpath.join(folder_of(place["variable"], code), place["path"]))
            yield path + _KEPT if _FOLDER.search(one[0]) else path


def guard_switches(hook_set: HookSet) -> dict[str, str]:
    """Return the variables with which guards refuse, and their values; none that the settings give."""
    given = {name for hook in hook_set.hooks for name in hook.env}
    found: dict[str, str] = {}
    for _, text in hook_set.sources:
        for one in _COMPARED.finditer(COMMENT_LINES.sub("", text)):
            name = one["name1"] or one["name2"] or one["name3"]
            value = one["value1"] or one["value2"] or one["value3"]
            if name not in given and not _SWITCHES_OFF.search(name):
                found.setdefault(name, value)
        if _REFUSES.search(text):
            found = dict.fromkeys(_needed(text, given), "1") | found
    return found


def _needed(text: str, given: Collection[str]) -> Iterator[str]:
    """Yield the variables without which a guard ends at once."""
    code = COMMENT_LINES.sub("", text)
    for one in _UNSET.finditer(code):
        name = next(name for name in one.groups() if name)
        is_set = re.search(_GIVEN.format(name), code)
        if (
            not is_set
            and name not in given
            and not _OF_OTHERS.search(name)
            and not _SWITCHES_OFF.search(name)
        ):
            yield name
