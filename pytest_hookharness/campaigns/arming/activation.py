"""
Ways to make hooks active that do nothing until a person starts them: plugin commands and files of rules.

A command counts if the host runs shell code for it, or if code in its text writes a file that a hook or a
script of the plugin names. A file of rules is written if the plugin has both an example of it and a pattern
for which its hooks look. A file that hooks name directly is taken from templates. Some hooks act only in a
permission mode, which they compare.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import STOPS, hooks_at
from pytest_hookharness.campaigns.arming.project_texts import is_small, project_files, read_text
from pytest_hookharness.campaigns.arming.starting_scripts import starting_command
from pytest_hookharness.campaigns.arming.state_names import SESSION, TASK
from pytest_hookharness.campaigns.arming.state_paths import folder_of
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

# Shell code that the host runs when a command is used: a block after ```! or inline code after `!`.
_CODE = re.compile(r"^```!\s*\n(.*?)^```|(?<![\w`])!`([^`\n]+)`", re.DOTALL | re.MULTILINE)
# Shell code in the text of a command, and a file that a hook names or that such code writes.
_BLOCK = re.compile(r"^```(?:bash|sh|shell|zsh)[ \t]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_NAMED = re.compile(r"(?<![\w.])\.?[\w-]+(?:/[\w.-]+)+")
_WRITTEN = re.compile(rf">\s*[\"']?(?:\$\{{?\w+\}}?/)?({_NAMED.pattern})|\btouch\s+({_NAMED.pattern})")
_VARIABLE = re.compile(r"\$\{?\w+\}?/")
_SCRIPT = re.compile(rf"{_VARIABLE.pattern}([\w./-]+\.(?:sh|py|js|mjs))\b")
_STARTED = re.compile(r"[^\s']+\.\w+")
_PLUGIN_FOLDER = re.compile(r"\$\{?(PLUGIN_(?:DIR|ROOT|PATH))\b")
_ARGUMENTS = re.compile(r"[\"']?\$(?:ARGUMENTS|\{ARGUMENTS\}|\d|@)[\"']?")
# Commands that only show something or end what others started.
_NOT_STARTING = re.compile(r"cancel|stop|end|status|help|list|show|result|version", re.IGNORECASE)
# One command that only reads, as those which tell the agent about the repository.
_READING = re.compile(
    r"\s*(?:git (?:status|diff|log|ls-files|show|rev-parse|branch --show-current|remote -v)|ls|eza|tree|cat"
    r"|pwd|date|grep|rg|head|tail|wc)(?![\w-])[^;&|>`$\n]*\s*"
)
# A pattern of files in the source of hooks, perhaps joined to its folder.
_PATTERN = re.compile(
    r"(?:[\"']([\w./-]+)[\"']\s*(?:[,/]|\)\s*\.\s*r?glob\()\s*)?[\"']([\w./-]*\*[\w.-]*\.[A-Za-z]\w*)[\"']",
)
# A file of texts or settings, after a folder or a variable of the shell that holds one.
_DOCUMENT = re.compile(
    r"(?<![\w.${-])(?:\$\{?(?P<variable>\w+)\}?/)?(?:(?P<folder>[\w.-]+(?:/[\w.-]+)*)/)?"
    r"(?P<name>[\w-]+(?:\.[\w-]+)*\.(?:md|json|ya?ml|toml|txt))(?![\w.-])"
)
# Those that hosts and programs read, so that a template of one makes no hook active.
_OF_PROGRAMS = frozenset({"settings.json", "hooks.json", "plugin.json", "package.json", "README.md"})
_EXAMPLES = ("examples", "example", "samples", "templates")
_SOURCES = frozenset([".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".bash"])
_OFF = re.compile(r"^(enabled|active):[ \t]*(?:false|no|off)[ \t]*$", re.MULTILINE)
# The end of the name of a template, and a value that is filled in.
_OF_TEMPLATE = re.compile(r"\.(?:tmpl|tpl|template|example|sample|dist)$")
_FIELD = re.compile(r"\{\{[^{}\n]*\}\}")
# Newer versions of Claude Code name the session to shell commands, which the simulated one does not.
_SESSION_VARIABLE, _SESSION_FILE = "CLAUDE_CODE_SESSION_ID", ".claude/this-session"
# How a script asks which changes are staged.
_STAGED = re.compile(r"\bdiff\b[^\n]*--(?:cached|staged)\b")
_LARGEST, _MOST_FILES, _MOST = 1 << 16, 300, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """
    One way to make hooks active.

    Attributes:
        title: What was activated, in words that follow "with".
        command: The shell command that does it, run by the agent; empty for none.
        home: Files that the command reads, by path below HOME.
        usual: Whether agents do it in their usual work, so that it starts no loop.
    """

    title: str
    command: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    home: Mapping[str, str] = field(default_factory=dict)
    usual: bool = False


def find_activations(hook_set: HookSet) -> list[Activation]:
    """Return the ways to make hooks active that a plugin or a project itself shows."""
    try:
        commands = [*_by_commands(hook_set)]
        started = [*_by_scripts(hook_set, commands)]
        # Where one command needs what another one made, only all together start something.
        first = [one for one in started if "; " in one.command]
        found = [*first, *commands, *(one for one in started if one not in first)]
        found += [*_by_examples(hook_set), *_by_templates(hook_set)]
        return [*found[:_MOST], *_in_known_session(hook_set, found), *_by_index(hook_set)]
    except SimulationError:
        # A file that is no text.
        return []


def _by_index(hook_set: HookSet) -> Iterator[Activation]:
    """Yield a change that the agent stages, if a hook of stops asks which changes are staged."""
    scripts = (text for hook in hooks_at(hook_set, STOPS) for text in hook_set.scripts_of(hook))
    if hook_set.git and any(map(_STAGED.search, scripts)):
        command = "echo text >staged.txt && git add staged.txt"
        yield Activation(title="a staged change", command=command, usual=True)


def _in_known_session(hook_set: HookSet, found: Sequence[Activation]) -> Iterator[Activation]:
    """Yield the first command again as newer hosts run it: with the variable that names the session."""
    started = [one for one in found if one.command][:1]
    files = [file for file in _text_files(hook_set.root) if started and file.suffix in {*_SOURCES, ".md"}]
    if any(_SESSION_VARIABLE in (read_text(file) or "") for file in files):
        for one in started:
            title = f"{one.title}, with the session in {_SESSION_VARIABLE}"
            command = f'export {_SESSION_VARIABLE}="$(cat ~/{_SESSION_FILE})"; {one.command}'
            yield replace(one, title=title, command=command, home={_SESSION_FILE: SESSION})


def given_activations(commands: Sequence[str], files: Sequence[str]) -> list[Activation]:
    """
    Return the activations by the commands and files that a person named, in order.

    Raises:
        SimulationError: A file cannot be read, or its path leads out of the current folder.
    """
    found = [Activation(title=f"`{command}` run", command=command) for command in commands]
    for file in files:
        path = posixpath.normpath(file)
        if path.startswith(("/", "../")):
            raise SimulationError(
                f"{file}: lies outside the current folder; name it by its path in the project"
            )
        text = read_text(Path(path))
        if text is None:
            raise SimulationError(f"{file}: there is no such file below {Path.cwd()}")
        found.append(Activation(title=f"the file {path}", files={path: text}))
    return found


def _by_commands(hook_set: HookSet) -> Iterator[Activation]:
    profile = hosts.find(hook_set.host)
    top = "plugin/" if hook_set.plugin else "workspace/"
    folders = [path.removeprefix(top) for path in profile.config.components if path.startswith(top)]
    places = [(folder, "*.md") for folder in folders if folder.endswith("commands")]
    # Gemini CLI, whose commands are TOML files, has hooks in none of them.
    places = places or ([("commands", "*.toml")] if hook_set.plugin else [])
    sources = [text for _, text in hook_set.sources]
    named = {path for text in sources for path in _NAMED.findall(_VARIABLE.sub("", text))}
    for folder, pattern in places:
        for file in sorted((hook_set.root / folder).rglob(pattern)):
            if _NOT_STARTING.search(file.stem):
                continue
            text = read_text(file) or ""
            name = file.relative_to(hook_set.root)
            for code in filter(None, chain.from_iterable(_CODE.findall(text))):
                if not _READING.fullmatch(code):
                    yield Activation(title=f"{name} used", command=_filled(hook_set, code))
            for block in _BLOCK.findall(text):
                scripts = [read_text(hook_set.root / path) or "" for path in _SCRIPT.findall(block)]
                code = "\n".join([block, *scripts])
                # The request of a person goes to a script, which may be no shell script.
                passes = bool(scripts) and file.suffix == ".toml" and "$ARGUMENTS" in block
                if passes or named.intersection(filter(None, chain.from_iterable(_WRITTEN.findall(code)))):
                    # A script may need what the plugin's first command sets up.
                    files = _templates(hook_set, [*sources, *scripts]) if scripts else {}
                    yield Activation(title=f"{name} used", command=_filled(hook_set, block), files=files)


def _by_scripts(hook_set: HookSet, known: Sequence[Activation]) -> Iterator[Activation]:
    """Yield what runs the scripts that write a state of the hooks, unless the known ways run them all."""
    command = starting_command(hook_set)
    names = map(posixpath.basename, _STARTED.findall(command))
    if not all(any(name in one.command for one in known) for name in names):
        yield Activation(title=f"`{command}` run", command=command)


def _filled(hook_set: HookSet, code: str) -> str:
    """Return shell code of a command with a task as its arguments, and paths relative to the workspace."""
    profile = hosts.find(hook_set.host)
    # The copies of project and plugin lie side by side.
    folders = {profile.config.plugin_root: "../plugin"}
    folders |= dict.fromkeys(profile.process.project_variables, ".")
    # Where a text only says that it means the plugin's folder, the agent fills that in.
    folders |= dict.fromkeys(_PLUGIN_FOLDER.findall(code), "../plugin")
    for name, folder in folders.items():
        code = re.sub(rf"\$\{{{name}\}}|\${name}\b", folder, code)
    return _ARGUMENTS.sub(shlex.quote(TASK), code).strip()


def _by_examples(hook_set: HookSet) -> Iterator[Activation]:
    """Yield each example of a file for which hooks look by a pattern, under a name that fits it."""
    files = _text_files(hook_set.root, _EXAMPLES)
    if not files:
        return
    for folder, pattern in dict.fromkeys(_patterns(hook_set.root)):
        head, _, tail = pattern.rpartition("*")
        for file in (each for each in files if tail.count(".") > 1 and each.name.endswith(tail)):
            stem = file.name.removesuffix(tail)
            target = posixpath.normpath(posixpath.join(folder, f"{head}{stem}{tail}"))
            text = _OFF.sub(r"\1: true", read_text(file) or "")
            inside = file.relative_to(hook_set.root)
            yield Activation(title=f"{target} as in {inside}", files={target: text})


def _by_templates(hook_set: HookSet) -> Iterator[Activation]:
    """Yield the files that hooks name and the project does not have, as they are in its templates."""
    if found := _templates(hook_set, [text for _, text in hook_set.sources]):
        yield Activation(title=f"{', '.join(sorted(found))} as in the templates", files=found)


def _templates(hook_set: HookSet, texts: Sequence[str]) -> dict[str, str]:
    """Return the files that scripts name and the project does not have, as they are in its templates."""
    files = reversed(_text_files(hook_set.root, _EXAMPLES))
    templates = {_OF_TEMPLATE.sub("", file.name): file for file in files}
    found: dict[str, str] = {}
    for text in texts:
        for named in _DOCUMENT.finditer(text):
            folder = posixpath.join(folder_of(named["variable"], text), named["folder"] or "")
            path = posixpath.normpath(posixpath.join(folder, named["name"]))
            known = named["name"] in templates and named["name"] not in _OF_PROGRAMS
            if known and not path.startswith("..") and not (hook_set.root / path).exists():
                template = _FIELD.sub("1", read_text(templates[named["name"]]) or "")
                found[path] = _OFF.sub(r"\1: true", template)
    return found


def _patterns(root: Path) -> Iterator[tuple[str, str]]:
    for file in _text_files(root):
        if file.suffix in _SOURCES:
            yield from _PATTERN.findall(read_text(file) or "")


def _text_files(root: Path, folders: Collection[str] = ()) -> list[Path]:
    """Return the first small files of a project; of those in some folders, if these are given."""
    files = [path for path in project_files(root) if not folders or path.parent.name in folders]
    return [path for path in files[:_MOST_FILES] if is_small(path, _LARGEST)]


# An option of hosts, and the field of that name in the input of their hooks.
MODE_OPTION = "permission_mode"
_MOST_MODES = 2


def asked_modes(hook_set: HookSet) -> list[str]:
    """Return the permission modes that scripts compare, except the host's default mode."""
    rule = hosts.find(hook_set.host).options.get(MODE_OPTION)
    if rule is None or rule.ignored:
        return []
    texts = [text for _, text in hook_set.sources if MODE_OPTION in text]
    quoted = {word for text in texts for word in re.findall(r"[\"\'](\w+)[\"\']", text)}
    return [mode for mode in rule.choices if mode in quoted and mode != rule.default][:_MOST_MODES]
