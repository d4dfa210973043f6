"""
Which hooks an event runs, and how the host starts each: command line, environment and limits.

Variables that name a process or a server of the real host are left out. Nothing answers to them here, and a
made-up process id could belong to a process that has nothing to do with the run.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from fnmatch import fnmatchcase

from pytest_hookharness.hosts.hook_input.permission_rules import covers
from pytest_hookharness.hosts.hook_input.stdin import encode, value_in
from pytest_hookharness.hosts.rules.profile import EventRule, Profile
from pytest_hookharness.hosts.rules.settings import MatcherRules
from pytest_hookharness.hosts.session_state.facts import Facts
from pytest_hookharness.model.processes import ProcessSpec, Stdin
from pytest_hookharness.model.protocol import Hook, Payload

# Seconds: the largest time budget that the hooks of an event may share.
_MOST_SHARED = 60.0
_IDENTITY = frozenset(("type", "command", "args", "plugin"))


def select(
    profile: Profile,
    hooks: tuple[Hook, ...],
    event: str,
    target: str,
    *,
    tool_input: Payload | None = None,
    folder: str = "",
) -> tuple[Hook, ...]:
    """
    Return the hooks that run on an event, each once, in the order of the configuration.

    Args:
        folder: The project's, where the paths in conditions of hooks begin.
    """
    rule = profile.events[event]
    matchers = rule.matchers or profile.matchers
    chosen: dict[Hashable, Hook] = {}
    for place, hook in enumerate(hooks):
        if hook.event != event or not _matcher_fits(matchers, rule, hook.matcher, target):
            continue
        if not _condition_fits(matchers, rule, hook, target, tool_input, folder):
            continue
        # Many hosts run a handler once although several files list it. The rule names what makes it the same.
        same = tuple(_identity_part(hook, name) for name in profile.config.identity)
        chosen.setdefault(same or place, hook)
    return tuple(chosen.values())


def _matcher_fits(rules: MatcherRules, rule: EventRule, matcher: str | None, target: str) -> bool:
    written = matcher.strip() if matcher is not None and rules.trims else matcher
    if written is None or written in rules.everything:
        return True
    if not rule.target:
        return rules.untargeted
    if rule.exact:
        return written == target
    # Many hooks have no matcher.
    from pytest_hookharness.hosts.hook_input.matchers import matches

    return matches(rules, written, target)


def _identity_part(hook: Hook, name: str) -> Hashable:
    known: Hashable = getattr(hook, name) if name in _IDENTITY else str(hook.options.get(name))
    return known


def start_groups(profile: Profile, hooks: Sequence[Hook]) -> tuple[tuple[Hook, ...], ...]:
    """Return the hooks of one event in the groups that start together: all at once, or one by one."""
    # If one hook asks for this, all of them run one by one.
    if profile.process.one_by_one or any(hook.sequential for hook in hooks):
        return tuple((hook,) for hook in hooks)
    return (tuple(hooks),) if hooks else ()


def _condition_fits(
    rules: MatcherRules, rule: EventRule, hook: Hook, target: str, tool_input: Payload | None, folder: str
) -> bool:
    condition = hook.options.get(rules.condition) if rules.condition else None
    if not isinstance(condition, str):
        return True
    # A condition is about a tool call, so on other events it is never met.
    if rule.target != "tool_name":
        return False
    return covers(condition, target, tool_input, folder)


# Bytes kept of each output stream for a host that reads all of it. No recorded hook printed as much.
KEPT_BYTES = 1 << 22


def launch(
    profile: Profile,
    hook: Hook,
    payload: Payload,
    facts: Facts,
    base_env: Mapping[str, str],
    hook_timeout: float,
    *,
    hooks_of_event: Sequence[Hook] = (),
    index: int = 0,
) -> ProcessSpec:
    """
    Return all that is needed to run a hook once as its host would.

    Args:
        hook: The hook; it must be a command.
        base_env: The environment that the host's variables are added to.
        hook_timeout: Seconds after which the harness cuts the hook run although the host would wait longer.
        hooks_of_event: All hooks of the event, where they share a time budget.
    """
    rule, process = profile.events[hook.event], profile.process
    cwd = str(value_in(rule, payload, "cwd") or facts.workspace)
    tool = str(value_in(rule, payload, "tool_name") or "")
    known = {**facts.template_values, "cwd": cwd, "tool": tool, "version": profile.version}
    known |= {name: str(payload.get(f"{name}_id") or "") for name in ("prompt", "agent")}
    # From weakest to strongest: inherited, the host's own, those of the settings or the plugin.
    env = {**_inherited_env(profile, base_env), **_host_env(profile, hook, rule, known, index), **hook.env}
    env |= {name: base_env[name] for name in process.kept_workspace if name in base_env}
    return ProcessSpec(
        argv=_argv(profile, hook, env),
        cwd=_start(profile, hook, facts) or cwd,
        env=env,
        stdin=Stdin(data=encode(profile, payload)),
        stdio=process.stdio,
        own_session=process.own_session,
        limit=_limit(profile, hook, rule, facts, hooks_of_event or (hook,)),
        hook_timeout=hook_timeout,
        pipe_wait=process.pipe_wait,
        detach=profile.detachment(hook),
        kill=process.kill,
        output_limit=process.output_limit or KEPT_BYTES,
    )


def _start(profile: Profile, hook: Hook, facts: Facts) -> str:
    """Return the folder in which a hook starts wherever the agent works; empty if it starts there."""
    if hook.folder:
        return posixpath.normpath(posixpath.join(facts.workspace, hook.folder))
    return hook.plugin if profile.process.plugin_start else ""


def env_folder(profile: Profile, facts: Facts) -> str:
    """Return the folder where hooks leave variables for later commands, absolute; may be empty."""
    return posixpath.dirname(profile.process.env_file[1]).format(**facts.template_values)


def env_files(profile: Profile, facts: Facts, present: Collection[str]) -> tuple[str, ...]:
    """
    Return the files that the host reads before each shell command of the agent, absolute and in order.

    The names are those of the files that are ``present`` in its ``env_folder``.
    """
    folder, template = env_folder(profile, facts), posixpath.basename(profile.process.env_file[1])
    found: list[tuple[int, int, str]] = []
    for position, rule in enumerate(profile.events.values()):
        parts = template.replace("{event}", rule.name.lower()).split("{index}")
        pattern = "([0-9]+)".join(re.escape(part) for part in parts)
        matched = (re.fullmatch(pattern, name) for name in present if rule.env_file and template)
        found += [(position, int(match[1]), match[0]) for match in matched if match is not None]
    return tuple(posixpath.join(folder, name) for _, _, name in sorted(found))


def _argv(profile: Profile, hook: Hook, env: Mapping[str, str]) -> tuple[str, ...]:
    # Hosts fill in the folder of a plugin themselves, also where no shell would, as in single quotes; but
    # not those that fill in variables only where there is no shell.
    names = [profile.config.plugin_root] if hook.plugin and not profile.process.substituted else []
    if hook.args is not None:
        # There is no shell to expand these variables, and the hosts document that they do it themselves.
        ends = profile.process.substituted
        names += [name for name in env if any(name.startswith(a) and name.endswith(b) for a, b in ends)]

    def filled(text: str) -> str:
        for name in names:
            text = text.replace("${" + name + "}", env.get(name, ""))
        return text

    words = [filled(word) for word in hook.words]
    return tuple(words) if hook.args is not None else (*_shell(profile, env), *words)


def _shell(profile: Profile, env: Mapping[str, str]) -> tuple[str, ...]:
    own = env.get("SHELL", "")
    return (own, "-lc") if posixpath.basename(own) in profile.process.login_shells else profile.process.shell


def _inherited_env(profile: Profile, env: Mapping[str, str]) -> dict[str, str]:
    removed = {name for name in env for pattern in profile.process.removed if fnmatchcase(name, pattern)}
    return {name: value for name, value in env.items() if name not in removed}


def _host_env(
    profile: Profile, hook: Hook, rule: EventRule, known: Mapping[str, str], index: int
) -> dict[str, str]:
    process = profile.process
    values = {**known, "event": hook.event.lower(), "event_name": hook.event, "index": str(index)}
    filled = {name: template.format_map(values) for name, template in process.env.items()}
    env = {name: value for name, value in filled.items() if value or process.keeps_empty}
    if rule.env_file and process.env_file[0]:
        env[process.env_file[0]] = process.env_file[1].format_map(values)
    if hook.plugin:
        values["plugin_folder"] = hook.env.get(profile.config.plugin_root, hook.plugin)
        values["plugin"] = hook.plugin_name or posixpath.basename(hook.plugin.rstrip("/"))
        env |= {name: template.format_map(values) for name, template in process.plugin_env.items()}
    return env


def _limit(
    profile: Profile, hook: Hook, rule: EventRule, facts: Facts, hooks_of_event: Sequence[Hook]
) -> float:
    own = hook.timeout if hook.timeout is not None else rule.timeout
    own = own if rule.most is None else min(own, rule.most)
    if not rule.shared:
        return own
    written = facts.env.get(profile.process.shared_limit, "")
    budget = int(written) / 1000 if written.isdecimal() else 0.0
    if not budget:
        # One hook's own timeout raises the budget that all hooks share; a plugin's does not.
        raised = [other.timeout for other in hooks_of_event if other.timeout is not None and not other.plugin]
        budget = min(max([rule.timeout, *raised]), _MOST_SHARED)
    return min(hook.timeout, budget) if hook.timeout is not None else budget
