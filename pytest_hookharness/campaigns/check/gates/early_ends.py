"""
Loops of Stop hooks with a limit, that are over after one round.

The script allows each stop with ``stop_hook_active`` before it looks at its state. Where the host sends this
flag at every stop after a refused one, the limit is never reached. A script that counts reminders is not a
loop: only a loop that a state file switches on is reported.
"""

from __future__ import annotations

import re

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import STOPS, only_script
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, ShellScript, script_of
from pytest_hookharness.hosts.rules.turns import FlagUse
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# Hosts of which a release was seen to keep the flag set until the next prompt.
_HOSTS = frozenset(["claude-code", "codex", "qwen-code"])
_FLAG = r"stop_?[hH]ook_?[aA]ctive"
# The flag as jq prints it, and a variable with nothing but that.
_ASKED = (
    rf"(?:[^\n|()]*\|[ \t]*)?jq[ \t]+-\w+[ \t]+[\"']?\.{_FLAG}"
    rf"(?:[ \t]*//[ \t]*(?:false|empty|\"\"|\"?false\"?))?[\"']?"
    r"(?:[ \t]*<<<[ \t]*\"?\$\w+\"?)?(?:[ \t]*2>[ \t]*/dev/null)?"
    r"(?:[ \t]*\|\|[ \t]*(?:true|echo[ \t]+[\"']?\w*[\"']?))?"
)
_GIVEN = re.compile(rf"^(?P<name>\w+)=\"?\$\([ \t]*{_ASKED}[ \t]*\)\"?[ \t]*$", re.MULTILINE)
_THEN = (
    r"[ \t]*(?:;[ \t]*|\n[ \t]*)then\b(?P<branch>(?:(?!\n[ \t]*(?:fi|else|elif)\b)[\s\S]){0,300})\n[ \t]*fi\b"
)
_TRUE = r"[ \t]+==?[ \t]+[\"']?true[\"']?[ \t]+\]\]?"
# Conditions about nothing but the flag, that stand in no other one.
_IN_SHELL = (
    rf"^if[ \t]+\[\[?[ \t]+\"?\$(?:\{{?(?:NAMES)\}}?|\([ \t]*{_ASKED}[ \t]*\))\"?{_TRUE}{_THEN}"
    rf"|^if[ \t]+[^\n\[&!]*\bgrep[ \t]+[^\n|&;]*{_FLAG}[^\n|&;]*true[^\n|&;]*"
    rf"{_THEN.replace('branch', 'other')}"
    rf"|^\[\[?[ \t]+\"?\$\{{?(?:NAMES)\}}?\"?{_TRUE}[ \t]*&&[ \t]*exit[ \t]+0[ \t]*$"
)
_ONLY_ENDS = re.compile(r"(?:[ \t]*(?:(?:echo|printf)\b[^\n;|&]*)?[\n;])*[ \t]*exit[ \t]+0[ \t;]*")
_IN_PYTHON = re.compile(
    rf"^(?P<blanks>[ \t]*)if[ \t]+\w+(?:\.get\([\"']{_FLAG}[\"'](?:,[ \t]*False)?\)|\[[\"']{_FLAG}[\"']\])"
    r"(?:[ \t]+(?:is|==)[ \t]+True)?:\n[ \t]+(?:return(?:[ \t]+(?:0|None))?|(?:sys\.)?exit\(0?\))[ \t]*$",
    re.MULTILINE,
)
_IN_JAVASCRIPT = re.compile(
    rf"^(?P<blanks>[ \t]*)if[ \t]*\([ \t]*\w+\??\.{_FLAG}(?:[ \t]*===?[ \t]*true)?[ \t]*\)[ \t]*"
    r"(?:\{\s*)?(?:return|process\.exit\(0?\))[ \t]*(?=[;\n}])",
    re.MULTILINE,
)
_MAIN = re.compile(r"(?:async[ \t]+)?(?:def|function)[ \t]+(?:main|run)\b")
# The first statement in it, and a change of what it reads.
_FIRST = re.compile(r"\n([ \t]+)\S")
_SET = re.compile(rf"{_FLAG}[\"']?\]?[ \t]*=(?!=)|\b(?:data|input\w*|payload|event)[ \t]*=[ \t]*\{{\}}")
# A statement of the whole program.
_OUTER = re.compile(r"^[^\s})]", re.MULTILINE)
_ROUND, _MAX = r"\w{0,30}(?i:iter|round|cycle)\w{0,30}", r"\w{0,30}(?i:max)\w{0,30}"
_COMPARED = re.compile(
    rf"\$\{{?{_ROUND}\}}?\"?[ \t]+-g[et][ \t]+\"?\$\{{?(?P<shell>{_MAX})"
    rf"|\(\([ \t]*\$?{_ROUND}[ \t]*>=?[ \t]*\$?(?P<sum>{_MAX})"
    rf"|\b{_ROUND}\)?[ \t]*>=?[ \t]*(?:\w+\()?(?:\w+\.)?(?P<other>{_MAX})"
)
_GROWS = re.compile(rf"\b{_ROUND}\}}?\"?\)?[ \t]*(?:\+[ \t]*1\b|\+=[ \t]*1\b|\+\+)")
_REFUSES = re.compile(r"\bexit[ \t(]+2\b|\\?[\"']block\b|\breturn[ \t]+2\b")
# Without its state, it ends.
_LEAVES = (
    r"(?:\{\s*)?(?:(?:echo|printf|console\.\w+|log)\b[^\n]*\n?\s*)?"
    r"(?:exit\b|return\b|process\.exit|sys\.exit)"
)
_KEPT = re.compile(
    rf"![ \t]+-f\b[^\n]*?(?:&&|;[ \t]*then|\n[ \t]*then)\s*{_LEAVES}|\[[ \t]+-f\b[^\n]*\|\|\s*{_LEAVES}"
    rf"|!\s*(?:\w+\.)?existsSync\([^\n]*\)\s*{_LEAVES}|\bnot [\w.]+(?:exists|is_file)\([^\n]*:\s*{_LEAVES}"
    rf"|(?:!\s*|\bnot )\w*[sS]tate\w*\)?:?\s*{_LEAVES}"
)


def early_end(hook_set: HookSet, hook: Hook) -> tuple[str, int, str]:
    """Return the script of a loop that is over after one round, where it ends, and its limit; or nothing."""
    text = only_script(hook_set, hook, STOPS)
    stays = hook_set.host in _HOSTS and hosts.find(hook_set.host).cap.flag is FlagUse.STAYS
    line, limit = end_of_loop(text) if stays else (0, "")
    return (hook_set.sources_of(hook)[0][0], line, limit) if line else ("", 0, "")


def end_of_loop(text: str) -> tuple[int, str]:
    """Return the line in which a script allows each stop after a refused one, and the limit of its loop."""
    script = script_of(text)
    code = script.code
    begin, place = _end_in_shell(script) if SHELL_SCRIPT.match(text) else _end_in_main(code)
    compared = _COMPARED.search(code, place) if place else None
    # A refusal before the flag is read occurs at each stop.
    if compared is None or _REFUSES.search(code, begin, place) or not _REFUSES.search(code):
        return 0, ""
    limit = compared["shell"] or compared["sum"] or compared["other"]
    once = re.search(rf"\b{limit}[\"']?\s*[=:]\s*(?:\"?\$\{{\w+:-)?[\"']?1\b", code)
    if once or not _GROWS.search(code, place) or not _KEPT.search(code):
        return 0, ""
    return script.line_of(place), limit


def _end_in_shell(script: ShellScript) -> tuple[int, int]:
    """Return where the statements of a shell script begin, and the condition that ends it; zeros for none."""
    code = script.code
    given = [found["name"] for found in _GIVEN.finditer(code)]
    names = "|".join(name for name in given if len(re.findall(rf"(?<![\w$]){name}=", code)) == 1)
    for found in re.finditer(_IN_SHELL.replace("NAMES", names or "-"), code, re.MULTILINE):
        branch = found["branch"] or found["other"] or "exit 0"
        place = found.start()
        alone = script.is_outermost(place) and script.is_code(place)
        if alone and _ONLY_ENDS.fullmatch(branch.lstrip("\n")):
            return 0, place
    return 0, 0


def _end_in_main(code: str) -> tuple[int, int]:
    """Return where the main function of a program begins, and the condition that ends it; zeros for none."""
    for pattern in (_IN_PYTHON, _IN_JAVASCRIPT):
        for found in pattern.finditer(code):
            outer = [*_OUTER.finditer(code, 0, found.start())]
            begin = outer[-1].start() if outer else 0
            first = _FIRST.search(code, begin)
            own = first is not None and first[1] == found["blanks"]
            if outer and _MAIN.match(code, begin) and own and not _SET.search(code):
                return begin, found.start()
    return 0, 0
