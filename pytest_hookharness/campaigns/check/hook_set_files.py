"""
The hooks of a settings file, of a plugin, or of the front matter of a skill, a command or a subagent.

A component's hooks run only while it is active, so they are a hook set of their own, in which it always is.
"""

from __future__ import annotations

import functools
import json
import operator
import os
import posixpath
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.copied_files import copied_files, installed_plugin, namesakes
from pytest_hookharness.campaigns.arming.project_texts import read_text, without_json_comments
from pytest_hookharness.campaigns.check.lent_home import find_installed, find_lent
from pytest_hookharness.campaigns.check.static.correctable_hooks import missing_script
from pytest_hookharness.campaigns.check.static.hook_program import INTERPRETERS
from pytest_hookharness.judging.findings.settings_findings import find_settings_problems
from pytest_hookharness.model import moves
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook, Json, SettingsProblem
from pytest_hookharness.model.verdicts import Finding

WORKSPACE, PLUGIN = "workspace/", "plugin/"
# The folder of a plugin, as hosts name it in commands.
_PLUGIN_ROOT = re.compile(r"\$\{?(\w*PLUGIN_ROOT)\b")
# A key or a position in a list.
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
# A place in the settings up to its last position in a list.
_ENTRY = re.compile(r".*\]")
_WORD = re.compile(r"[\w./@+-]+")
_VARIABLE = re.compile(r"\$\w+")
_LONGEST = 1 << 18
# The variable with the folder of a skill, for the hooks in its front matter.
_SKILL_FOLDER = "CLAUDE_SKILL_DIR"


class _Details(TypedDict, total=False):
    part: str
    only: str
    inline: Mapping[str, Json]
    env: Mapping[str, str]
    plugin: bool


def read_hook_set(
    profile: hosts.Profile, root: Path, files: Sequence[str], *, only: str = "", plugin: bool = False
) -> HookSet:
    """Return the hooks that a host finds in settings files, or in those of a plugin."""
    texts = {file: read_text(root / file) or "" for file in files}
    if plugin:
        configuration = hosts.configure(profile, {}, plugin_files=texts, plugin_root=str(root))
    else:
        configuration = _configure(profile, texts)
    hook_set = _hook_set(profile, root, files, configuration, only=only, plugin=plugin)
    if only:
        return hook_set
    if configuration.disabled and not plugin:
        return _switched_on(profile, hook_set, texts)
    return _without_malformed(profile, hook_set, texts, configuration)


def with_copies(hook_set: HookSet, settings: Path, whole: Path) -> HookSet:
    """Return the hooks of a file that is copied to its place, with the scripts that are copied with it."""
    texts = copied_files(hook_set.hooks, hook_set.root, settings, whole)
    commands = " ".join(text for hook in hook_set.hooks for text in hook.words)
    named = tuple((path, text) for path, text in texts.items() if path in commands)
    names = {posixpath.basename(path) for path, _ in named}
    # The file that is not copied yet is the same script.
    others = (one for one in hook_set.sources if posixpath.basename(one[0]) not in names)
    # A build may make a plugin of it, whose folder is then the one in which its scripts were found.
    env = dict.fromkeys(_PLUGIN_ROOT.findall(commands), moves.WORKSPACE) if hook_set.sources else {}
    found = replace(hook_set, elsewhere=True, texts=texts, sources=(*others, *named))
    return replace(found, env={**env, **hook_set.env})


def _configure(profile: hosts.Profile, texts: Mapping[str, str]) -> hosts.Configuration:
    return hosts.configure(profile, {f"{WORKSPACE}{file}": text for file, text in texts.items()})


def _switched_on(profile: hosts.Profile, hook_set: HookSet, texts: Mapping[str, str]) -> HookSet:
    """Return a hook set whose sessions have settings that do not turn its hooks off, if these are JSON."""
    changed = {file: _without_switches(profile, text) for file, text in texts.items()}
    files = {file: text for file, text in changed.items() if text}
    on = _hook_set(profile, hook_set.root, hook_set.files, _configure(profile, {**texts, **files}))
    return replace(on, off=hook_set.off, texts=files) if on.hooks else hook_set


def _without_malformed(
    profile: hosts.Profile, hook_set: HookSet, texts: Mapping[str, str], configuration: hosts.Configuration
) -> HookSet:
    """
    Return a hook set whose sessions lack what keeps the host from running the hooks of a file.

    These are malformed entries, and comments in JSON. They would hide what is wrong with the others.
    """
    read = {hook.source for hook in configuration.hooks}
    places: dict[str, list[str]] = {}
    for problem in configuration.problems:
        file = problem.source.removeprefix(PLUGIN)
        if problem.kind == "malformed" and problem.path and problem.source not in read and file in texts:
            # Without a wrong matcher or list alone, an entry would be another one, or wrong as well.
            entry = _ENTRY.match(problem.path)
            places.setdefault(file, []).append(entry[0] if entry else problem.path)
    cut = {file: _without_places(texts[file], paths) for file, paths in places.items()}
    unreadable = (
        one.source.removeprefix(PLUGIN) for one in configuration.problems if one.kind == "unreadable"
    )
    cut |= {file: without_json_comments(texts[file]) for file in unreadable if file in texts}
    files = {file: text for file, text in cut.items() if text}
    if not files:
        return hook_set
    if hook_set.plugin:
        return _as_project(profile, hook_set, files)
    rest = _hook_set(profile, hook_set.root, hook_set.files, _configure(profile, {**texts, **files}))
    kept = replace(rest, flaws=hook_set.flaws, findings=hook_set.findings, texts=files)
    return kept if rest.hooks else hook_set


def _as_project(profile: hosts.Profile, hook_set: HookSet, files: Mapping[str, str]) -> HookSet:
    """Return a plugin with one file of settings as a project with them: sessions do not change a plugin."""
    (file, text), *more = files.items()
    inline = json.loads(text)
    if more or len(hook_set.files) > 1 or not isinstance(inline.get("hooks"), dict):
        return hook_set
    env = {profile.config.plugin_root: moves.WORKSPACE}
    rest = as_settings(profile, hook_set.root, file, inline, env=env)
    kept = replace(rest, flaws=hook_set.flaws, findings=hook_set.findings, found=hook_set)
    return kept if rest.hooks else hook_set


def as_settings(
    profile: hosts.Profile,
    root: Path,
    file: str,
    inline: Mapping[str, Json],
    *,
    env: Mapping[str, str],
    part: str = "",
) -> HookSet:
    """Return the hooks of a file as those of settings: unlike a scenario, a host knows no short forms."""
    place = next(path for path in profile.config.paths if path.startswith(WORKSPACE))
    read = hosts.configure(profile, {place: json.dumps(inline)})
    configuration = replace(
        read,
        hooks=tuple(replace(hook, source=file) for hook in read.hooks),
        problems=tuple(_in_file(problem, place.removeprefix(WORKSPACE), file) for problem in read.problems),
    )
    return _hook_set(profile, root, (file,), configuration, part=part, inline=inline, env=env)


def _without_places(text: str, places: Sequence[str]) -> str:
    """Return JSON without the values at some places, as ``hooks.Stop[0]``; empty if it has none there."""
    steps = {tuple(int(index) if index else key for key, index in _STEP.findall(place)) for place in places}
    content = _parsed(text)
    # The last ones first: what is removed from a list moves what follows it.
    for *path, last in sorted(steps, key=_in_order, reverse=True):
        try:
            del _value_at(content, path)[last]
        except (KeyError, IndexError, TypeError):
            return ""
    return _written(content)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _value_at(content: Any, path: Sequence[str | int]) -> Any:
    return functools.reduce(operator.getitem, path, content)


def _written(content: Json) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False)


def _in_order(steps: Sequence[str | int]) -> list[tuple[str, int]]:
    """Return a key that sorts places, those of one list by their positions."""
    return [("", step) if isinstance(step, int) else (step, 0) for step in steps]


def _without_switches(profile: hosts.Profile, text: str) -> str:
    """Return settings without the switches that turn all hooks off; empty for none, and for no JSON."""
    content, found = _parsed(text), False
    for switch in profile.config.switches:
        *path, name = switch.path
        with suppress(KeyError, TypeError):
            place = _value_at(content, path)
            if place[name] is switch.off:
                del place[name]
                found = True
    return _written(content) if found else ""


def read_components(
    profile: hosts.Profile, root: Path, place: str, known: set[tuple[str, Path]]
) -> Iterator[HookSet]:
    """
    Yield a hook set for each skill, command or subagent with hooks of its own; equal ones are one.

    Those of a folder that have only flaws are one as well. The real path of each file that is read is added
    to ``known``, with the host's name: a folder may be a link to another one.
    """
    found: dict[str, HookSet] = {}
    folders = [path.removeprefix(place) for path in profile.config.components if path.startswith(place)]
    for folder in folders:
        flawed: list[HookSet] = []
        # A skill is a folder below that of the skills; commands and subagents may lie deeper.
        pattern = "*/SKILL.md" if folder.endswith("skills") else "**/*.md"
        for file in sorted((root / folder).glob(pattern)):
            name, real = str(file.relative_to(root)), (profile.name, file.resolve())
            hooks = hosts.component_hooks(read_text(file) or "", agent=folder.endswith("agents"))
            if not hooks or real in known:
                continue
            known.add(real)
            key = json.dumps(hooks, sort_keys=True, default=str)
            if key in found:
                found[key] = replace(found[key], files=(*found[key].files, name))
                continue
            component = _component(profile, root, name, hooks, plugin=place == PLUGIN)
            if component.hooks:
                found[key] = component
            else:
                flawed.append(component)
        if flawed:
            yield _together(flawed, folder)
    yield from found.values()


def _together(flawed: Sequence[HookSet], folder: str) -> HookSet:
    """Return the components of a folder, which have flaws and no hooks, as one; each flaw names its files."""
    if len(flawed) == 1:
        return flawed[0]
    findings: dict[str, Finding] = {}
    files: dict[str, list[str]] = {}
    for component in flawed:
        for finding in component.findings:
            said = finding.text.removeprefix(component.part)
            findings.setdefault(said, finding)
            files.setdefault(said, []).append(component.part)
    return replace(
        flawed[0],
        part=folder,
        files=tuple(component.part for component in flawed),
        flaws=tuple(flaw for component in flawed for flaw in component.flaws),
        findings=tuple(
            replace(finding, text=", ".join(files[said]) + said) for said, finding in findings.items()
        ),
    )


def _component(
    profile: hosts.Profile, root: Path, file: str, hooks: Mapping[str, Json], *, plugin: bool
) -> HookSet:
    # The project of the sessions is the folder itself, in which hooks start.
    env = {_SKILL_FOLDER: f"{moves.WORKSPACE}/{posixpath.dirname(file)}"}
    env |= {profile.config.plugin_root: moves.WORKSPACE} if plugin else {}
    return as_settings(profile, root, file, {"hooks": hooks}, part=file, env=env)


def _in_file(problem: SettingsProblem, place: str, file: str) -> SettingsProblem:
    return replace(problem, source=file, text=problem.text.replace(place, file, 1))


def _hook_set(
    profile: hosts.Profile,
    root: Path,
    files: Sequence[str],
    configuration: hosts.Configuration,
    **more: Unpack[_Details],
) -> HookSet:
    installed = find_installed(configuration.hooks, root)
    sources = tuple(_sources(root, configuration.hooks, [named for _, named in installed]))
    if more.get("plugin"):
        texts = [*(hook.command for hook in configuration.hooks), *(text for _, text in sources)]
        installed += installed_plugin(profile, root, texts)
    # Somebody set this switch, so it is no mistake.
    off = [problem for problem in configuration.problems if problem.kind == "disabled"]
    others = [problem for problem in configuration.problems if problem not in off]
    found = HookSet(
        host=profile.name,
        root=root,
        files=tuple(files),
        hooks=configuration.hooks,
        flaws=tuple(problem.text for problem in configuration.problems),
        findings=tuple(find_settings_problems(others)),
        off=off[0].text if off else "",
        sources=sources,
        lent=find_lent(configuration.hooks, sources),
        installed=installed,
        git=shutil.which("git") is not None,
        **more,
    )
    return _with_namesakes(found)


def _with_namesakes(hook_set: HookSet) -> HookSet:
    """Return the hook set with the scripts that its commands name by a wrong path."""
    missing = [path for hook in hook_set.hooks if (path := missing_script(hook_set, hook))]
    meant = namesakes(hook_set.root, missing)
    known = dict(hook_set.sources)
    # Another hook already runs such a script.
    meant = {path: there for path, there in meant.items() if there not in known}
    if hook_set.plugin:
        # A path that the plugin itself has, and that is looked up in the project of its user.
        meant |= {path: there for path in missing if (there := os.path.normpath(path)) in known}
    texts = {path: read_text(hook_set.root / path) for path in meant.values()}
    more = tuple((path, text) for path, text in texts.items() if text)
    return replace(hook_set, meant=meant, sources=(*hook_set.sources, *more)) if meant else hook_set


def _sources(root: Path, hooks: Sequence[Hook], installed: Sequence[str]) -> Iterator[tuple[str, str]]:
    words = [
        word.lstrip("/") if word.startswith("/") else posixpath.join(hook.folder, word)
        for hook in hooks
        for part in (hook.command.replace(str(root), ""), *(hook.args or ()))
        # The letters of `$NAME/x.sh` are no part of the path.
        for word in _WORD.findall(_VARIABLE.sub("", part))
        # The program that runs a script is no file of the project, also if one has its name.
        if not INTERPRETERS.fullmatch(word)
    ]
    for name in dict.fromkeys((*installed, *map(os.path.normpath, words))):
        path = root / name
        there = os.path.isfile(path)  # noqa: PTH113 -- pathlib raises where a word is too long for a name
        if name.startswith("..") or not there or not path.resolve().is_relative_to(root):
            continue
        data = path.read_bytes() if path.stat().st_size <= _LONGEST else b""
        if data and b"\0" not in data:
            yield name, data.decode("utf-8", "replace")
