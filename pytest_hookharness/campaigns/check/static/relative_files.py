"""
State that scripts write or look for by a relative path: after the agent's ``cd`` they use another file.

Only scripts that never change the folder themselves are read, on hosts that start hooks where the agent is.
The result of a session in another folder counts for every script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import PurePath

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import role_of
from pytest_hookharness.campaigns.arming.project_texts import files_named, read_object, read_text
from pytest_hookharness.campaigns.arming.state_names import SESSION
from pytest_hookharness.campaigns.arming.state_paths import scripts
from pytest_hookharness.campaigns.check.answers.written_answers import without_comments
from pytest_hookharness.campaigns.check.shell_code.embedded_programs import embedded_programs
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, code_of, loaded_texts
from pytest_hookharness.model.checkup import HookSet, script_of
from pytest_hookharness.model.protocol import Hook, Json

_MOVES = re.compile(r"\bf?chdir\b|\bcd\(")
# A command that starts its script in another folder.
_STARTS_ELSEWHERE = re.compile(r"\b(?:cd|pushd)\s|\s(?:--directory|--cwd|--prefix|--dir|-C)\b")
# In a shell script wherever it stands, as in `if ! cd x`, `CDPATH= cd x`, `*) cd x ;;` and `eval "cd x"`.
_SHELL_MOVES = re.compile(r"\bchdir\b|(?<![\w.-])(?:cd|pushd|popd|eval)(?![\w.=-])|\benv[ \t]+-C\b")
# A script that compares its folder with another one knows where it is.
_COMPARES_FOLDER = re.compile(r"\$\{?PWD\}?\"?[ \t]*!?==?[ \t]*\"?\$")
_LOADS = re.compile(r"^[ \t]*(?:source|\.)\s|[;&]\s*(?:source|\.)\s", re.MULTILINE)
_LOADED = re.compile(r"([\w.-]+\.(?:sh|bash))\b")
# What a shell does elsewhere, such as `$(cd "$(dirname "$0")" && pwd)`.
_SUBSTITUTED = re.compile(r"\$\([^()]*\)")
# A variable whose only value is a relative path with a folder, and what writes a file.
_ASSIGNED = re.compile(
    r"^[ \t]*(?:local\s+|export\s+|readonly\s+)?(\w+)=([\"']?)([^\n]*?)\2[ \t]*$", re.MULTILINE
)
_RELATIVE = re.compile(r"\.?[A-Za-z][\w-]*(?:/[\w.-]+)+")
_CURRENT, _ANY_RELATIVE = re.compile(r"^(?:\$\(pwd\)|\$PWD|\$\{PWD\})/"), re.compile(r"\.?[A-Za-z][\w./-]*")
_WRITES = r"(?P<call>(?:(?<![<&\d])>>?\s*|\btee\s+(?:-a\s+)?|\btouch\s+)[\"']?)"
# What tests for a file. Only in a hidden folder is it surely the hook's own state.
_ASKS = (
    r"(?P<call>(?:(?<!\S)\[\[?|(?<!\S)!|&&|\|\|"
    r"|(?:^|[;&|({!]|\b(?:if|elif|while|until|then|else|do)\s)[ \t]*test)\s+(?:!\s+)?-KIND\s+[\"']?)"
)
_LISTS = r"(?P<call>(?:^|[;&|(]|\b(?:if|then|do)\s)[ \t]*(?:ls|find)\s+(?:-\w+\s+)*[\"']?)"
# The words of a command up to the next one, and how a script compares its arguments with one of them.
_OPERATOR = re.compile(r"[;&|<>\n]|\s\d>")
_ARGUMENT = re.compile(r"(?<![\w$./{-])[\w-]*[a-zA-Z][\w-]*(?![\w./-])")
_CHOSEN = r"[\"']{0}[\"']|=\s*{0}(?![\w-])|(?<![\w-]){0}\s*[|)]"
# What a message says.
_SAID = re.compile(r"\b(?:echo|printf)[ \t][^\n;&|<>()`]*")
# In a comparison, `>` writes no file.
_COMPARED = re.compile(r"\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)|\[\[\s.*?\s\]\]", re.DOTALL)
# Commands that set a variable without `=`.
_READS = r"\b(?:read|for|select|mapfile|readarray|getopts|printf\s+-v)\s[^\n;|]*?"
# A hidden folder, but of no program that works where it is started.
_OF_WORK = r"(?!(?:venv|terraform|direnv|next|turbo|nx|yarn|\w*_cache)\b)"
_HIDDEN = re.compile(rf"\.{_OF_WORK}[a-z][\w-]*/(?!hooks/)[\w./*-]+")
_FOLDER = re.compile(rf"\.{_OF_WORK}(?!(?:git|github|husky|vscode|idea|svn|cargo)\b)[a-z][\w-]*/?")
# Files that a project has only in its top folder.
_OF_PROJECT = (
    r"(?:CLAUDE\.md|AGENTS\.md|package\.json|tsconfig\.json|biome\.json|Cargo\.toml|pyproject\.toml|setup\.py"
    r"|requirements\.txt|go\.mod|Makefile|composer\.json|Gemfile|mix\.exs|pom\.xml)"
)
_ASKED_BY_PYTHON = re.compile(
    r"(?:(?<![\w./])(?<!/ )Path\(\s*(?=[^)\n]*\)\.(?:exists|is_file|read_text|open)\()"
    r"|os\.path\.(?:exists|isfile)\(\s*)"
    rf"[\"'](?:\./)?({_OF_PROJECT})[\"']\s*\)"
)
_KNOWS_PROJECT = re.compile(r"--show-toplevel|\bPWD\b|_PROJECT_DIR|getcwd|\.cwd\(")
# What a script fills into the name of a file, and the fewest characters that show whose name it is.
_FILLED_IN = re.compile(rf"{re.escape(SESSION)}|\d+")
_SHORTEST = 4
_END = r"(?=[\s;)&|]|$)"
# The current folder, and what is joined to it.
_OF_PYTHON = re.compile(
    r"(?:Path\.cwd\(\)\s*/\s*|os\.path\.join\(\s*os\.getcwd\(\)\s*,\s*)[\"']([\w.-]+)[\"'](?=[^\n]*\n(?:[^\n]*\n){0,3}[^\n]*\.?(?:mkdir|makedirs)\()"
)
# A path that begins where the script starts, and what makes or writes it.
_OF_START = re.compile(
    rf"\s*Path\(\s*[\"'](?P<path>(?!(?:node_modules|coverage|build|dist)\b)(?:\.{_OF_WORK})?[A-Za-z][\w./-]*)"
    r"[\"']\s*\)(?:\s*/\s*[\"'](?!/)[^()\n\"']*[\"'])*\s*"
)
# Another value of the name, and a use as a temporary file.
_SET_AGAIN = (
    r"\bfor\s[^\n]*\b{0}\b[^\n]*\bin\b|\bas\s+{0}\b|\b{0}\s*:="
    r"|,\s*{0}\b[^\n=()]*=|\b{0}\s*,[^\n=()]*=|\bself\.{0}\b"
)
_REMOVED = r"\b{0}\.(?:rmdir|unlink)\(|rmtree\(\s*{0}\b"
_MADE = r"(?<![\w.]){0}\.(?:mkdir|touch|write_text|write_bytes)\("
# The same in Python and JavaScript, also as the host sends it, and what may stand around it.
_HERE = r"(?:Path\.cwd\(\)|os\.getcwd\(\)|process\.cwd\(\))"
_SENT = r"\b\w+(?:\??\.cwd\b(?!\()|\.get\(\s*[\"']cwd[\"']\s*(?:,\s*[\"']{2}\s*)?\)|\[[\"']cwd[\"']\])"
_NOTHING_ELSE = re.compile(
    rf"{_HERE}|{_SENT}|\b(?:Path|resolve|String|str|or)\b|[\s()|?:,;]|path\.|[\"']\.?[\"']"
)
_BOUND = re.compile(
    r"^[ \t]*(?:(?:const|let|var)\s+)?(?P<name>[A-Za-z_]\w*)(?:\s*:\s*\w+)?\s*=(?!=)(?P<value>[^\n#]+)",
    re.MULTILINE,
)
_JOINED = (
    r"(?<![\w.])(?:{0})\)?\s*/\s*[\"'](?P<python>{1})[\"'/]"
    r"|\b(?:join|resolve)\(\s*(?:{0})\s*,\s*[\"'](?P<join>{1})[\"'/]"
    r"|\$?\{{(?:{0})\}}/(?P<text>{1})[\"'`/]"
)
_OWN_FOLDER = (
    rf"\.{_OF_WORK}(?!(?:git|github|husky|vscode|idea|svn|cargo|env|npm|ssh|aws|kube|docker|envrc|\w*rc)\b)"
    r"[a-z][\w-]*"
)
# The names of what functions get.
_GIVEN = re.compile(r"\b(?:def|function)\s*\w*\s*\(([^()\n]*)\)|\(([^()\n]*)\)\s*=>|\b(\w+)\s*=>")
# A script may know the project's folder, or look for it in the folders above.
_FINDS_PROJECT = re.compile(
    r"[\"']\.\.[\"'/]|show-toplevel|\w_(?:DIR|ROOT|CWD|WORKSPACE)\b[\"']?\s*[\])\],|?]|\.parents?\b|\bdirname\(|find_?[uU]p|\.git\b"
)
_OF_SCRIPT = re.compile(r"^[^\n]*(?:__file__|import\.meta|__dirname)[^\n]*$", re.MULTILINE)


def relative_file(hook_set: HookSet, hook: Hook) -> str:
    """Return a file that a hook's script uses in the agent's current folder; empty for none."""
    return _in_source(hook_set, hook) or next(_seen(hook_set, hook), "")


def _seen(hook_set: HookSet, hook: Hook) -> Iterator[str]:
    """Yield the files that a hook names, of those that hooks were seen to use where the agent works."""
    if not hook_set.aside or not starts_elsewhere(hook_set, hook):
        return
    script = PurePath(script_of(hook.command)).name or hook.command
    texts = [one.text for one in scripts(hook_set) if PurePath(one.name).name in hook.command]
    for path, command in hook_set.aside:
        # A program that the hook starts looks for files of its own.
        name = max(_FILLED_IN.split(PurePath(path).name), key=len)
        named = len(name) >= _SHORTEST and any(name in text for text in [*texts, hook.command])
        if named and script in command:
            yield path.replace(SESSION, "SESSION_ID")


def _in_source(hook_set: HookSet, hook: Hook) -> str:
    """Return a file that a script uses by a relative path, as its source shows; empty for none."""
    found = hook_set.scripts_of(hook)
    stays = _STARTS_ELSEWHERE.search(hook.command) is None
    if not stays or len(found) != 1 or not starts_elsewhere(hook_set, hook) or _moves(hook_set, found[0]):
        return ""
    text = found[0]
    if not SHELL_SCRIPT.match(text):
        return next(_used_in_code(text), "")
    # Which part of the script runs with the argument is not known, nor whether it is the part with the file.
    chosen = any(re.search(_CHOSEN.format(re.escape(word)), text) for word in _arguments(hook_set, hook))
    embedded = (file for one in embedded_programs(text) for file in _used_in_code(one.text))
    loaded = [*loaded_texts(hook_set, text)]
    return "" if chosen else next(chain(_used(text, loaded), embedded), "")


def _arguments(hook_set: HookSet, hook: Hook) -> list[str]:
    """Return the plain words that a hook's command gives to its script."""
    if hook.args is not None:
        return [word for word in hook.args[1:] if _ARGUMENT.fullmatch(word)]
    names = [PurePath(path).name for path, _ in hook_set.sources]
    behind = next((hook.command.partition(name)[2] for name in names if name in hook.command), "")
    return _ARGUMENT.findall(_OPERATOR.split(behind)[0])


def _moves(hook_set: HookSet, text: str) -> bool:
    """Return whether a script may change its folder, itself or in a file that it loads."""
    if not SHELL_SCRIPT.match(text):
        return _MOVES.search(text) is not None
    code = code_of(text)
    if _LOADS.search(code):
        names = {name for line in text.splitlines() if _LOADS.search(line) for name in _LOADED.findall(line)}
        files = files_named(hook_set.root, names)
        if not names or names - {file.name for file in files}:
            return True
        code = "\n".join([code, *(code_of(read_text(file) or "") for file in files)])
    while (shorter := _SUBSTITUTED.sub("", code)) != code:
        code = shorter
    return _SHELL_MOVES.search(code) is not None or _COMPARES_FOLDER.search(text) is not None


def _used_in_code(text: str) -> Iterator[str]:
    """Yield the files that a program in Python or JavaScript uses in its current folder."""
    yield from _OF_PYTHON.findall(text)
    yield from _in_project(text, _ASKED_BY_PYTHON.findall(text))
    code = _OF_SCRIPT.sub("", without_comments(text))
    if _MOVES.search(code) or _FINDS_PROJECT.search(code):
        return
    values: dict[str, list[str]] = {}
    for one in _BOUND.finditer(code):
        values.setdefault(one["name"], []).append(one["value"])
    given_names = {*re.findall(r"\w+", " ".join(" ".join(one) for one in _GIVEN.findall(code)))}
    own = {name: given for name, given in values.items() if name not in given_names}
    for name, given in own.items():
        paths = [*filter(None, map(_OF_START.fullmatch, given))]
        other = re.search(_SET_AGAIN.format(name), code) or _is_temporary(name, code)
        if len(paths) == len(given) and not other and re.search(_MADE.format(name), code):
            yield paths[0]["path"]
    here = [name for name, given in own.items() if all(map(_is_here, given))]
    joined = _JOINED.format("|".join([_HERE, *map(re.escape, here)]), _OWN_FOLDER)
    for found in re.finditer(joined, code):
        yield next(filter(None, found.groups()))


def _is_temporary(name: str, code: str) -> bool:
    """Return whether a program removes a file that it makes, and never asks for it."""
    return re.search(_REMOVED.format(name), code) is not None and f"{name}.exists(" not in code


def _is_here(value: str) -> bool:
    """Return whether a value is the current folder, also as the host sends it."""
    return re.search(f"{_HERE}|{_SENT}", value) is not None and not _NOTHING_ELSE.sub("", value)


def _used(text: str, loaded: Sequence[str]) -> Iterator[str]:
    code = code_of(text)
    # The value of a variable may stand in a file that the script loads.
    values = [pair for one in (text, *loaded) for pair in _values(one, code_of(one))]
    writing = _COMPARED.sub(lambda found: re.sub(r"[^\n]", "_", found[0]), code)
    asking = _SAID.sub(lambda found: "_" * len(found[0]), code)
    files, folders = _ASKS.replace("KIND", "[efs]"), _ASKS.replace("KIND", "d")
    ways = (
        (files, asking, _HIDDEN),
        (folders, asking, _FOLDER),
        (_LISTS, asking, _HIDDEN),
        (_WRITES, writing, _RELATIVE),
    )
    for call, shown, path in ways:
        for name, value in values:
            variable = rf"\$\{{?{name}\b\}}?[\"']?{_END}"
            if path.fullmatch(value) and _is_called(call + variable, text, shown):
                yield value
    for call, shown, path in ways:
        used = re.finditer(rf"{call}(?P<path>{path.pattern}){_END}", shown, re.MULTILINE)
        yield from (match["path"] for match in used)
    known = re.finditer(rf"{files}(?:\./)?(?P<path>{_OF_PROJECT})[\"']?{_END}", text, re.MULTILINE)
    yield from _in_project(
        text, [one["path"] for one in known if asking.startswith(one["call"], one.start("call"))]
    )


def _in_project(text: str, files: Sequence[str]) -> Iterator[str]:
    """Yield files of a project that a script surely looks for only where it starts."""
    if not _KNOWS_PROJECT.search(text):
        yield from (
            file for file in files if not re.search(rf"/[\"']?{re.escape(file)}", text.replace("./", ""))
        )


def _values(text: str, code: str) -> Iterator[tuple[str, str]]:
    """Yield the variables of a shell script that get a value only once, if that is a relative path."""
    for found in _ASSIGNED.finditer(text):
        name = found[1]
        again = (
            rf"(?<![\w$.-]){name}(?:\+?=(?!=)|\[[^]\n]*\]\+?=)|{_READS}(?<![\w${{]){name}\b|\$\{{{name}:?="
        )
        value = _CURRENT.sub("", found[3])
        fits = code.startswith(f"{name}=", found.start(1)) and (
            _RELATIVE if value == found[3] else _ANY_RELATIVE
        ).fullmatch(value)
        if fits and len(re.findall(again, code)) == 1:
            yield name, value


def _is_called(pattern: str, text: str, code: str) -> bool:
    """Return whether a pattern fits a text where its call is code, and neither a document nor a comment."""
    calls = re.finditer(pattern, text, re.MULTILINE)
    return any(code.startswith(call["call"], call.start("call")) for call in calls)


# With this variable in the settings, Claude Code goes back to the project after each command (documented).
# The simulated host ignores the variable; only the reports about relative paths are left out.
_GOES_BACK = "CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR"
_WORKSPACE = "workspace/"
_BEFORE_WORK = frozenset({"startup", "resume"})


def starts_elsewhere(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether a hook may start in another folder, after a `cd` of the agent."""
    keeps = hosts.find(hook_set.host).tools.keeps_folder and not hook.folder
    return keeps and not _is_before_work(hook_set, hook) and not _goes_back(hook_set)


def _is_before_work(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether a hook runs only before the agent could leave its first folder."""
    role = role_of(hook_set.host, hook.event)
    if role is not hosts.Role.SESSION_START:
        return role is hosts.Role.SETUP
    return {*re.split(r"[|,]", (hook.matcher or "").strip("^$()"))} <= _BEFORE_WORK


def _goes_back(hook_set: HookSet) -> bool:
    """Return whether a project's settings return its agent to the project; those of a plugin do not."""
    if hook_set.plugin:
        return False
    places = hosts.find(hook_set.host).config.paths
    files = [place.removeprefix(_WORKSPACE) for place in places if place.startswith(_WORKSPACE)]
    # The last file that sets the variable counts.
    values = [_env(hook_set, file).get(_GOES_BACK) for file in dict.fromkeys([*files, *hook_set.files])]
    last = next((value for value in reversed(values) if value is not None), "")
    return last not in ("", "0", 0)


def _env(hook_set: HookSet, file: str) -> Mapping[str, Json]:
    env = read_object(hook_set.root / file).get("env")
    return env if isinstance(env, Mapping) else {}
