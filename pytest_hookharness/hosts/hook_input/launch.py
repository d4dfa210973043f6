"""
How a host starts a hook: command line, environment and limits.

Variables that name a process or a server of the real host are left out. Nothing answers to them here, and a
made-up process id could belong to a process that has nothing to do with the run.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase

from pytest_hookharness.hosts.hook_input.stdin import encode, value_in
from pytest_hookharness.hosts.rules.profile import EventRule, Profile
from pytest_hookharness.hosts.session_state.facts import Facts
from pytest_hookharness.model.processes import ProcessSpec, Stdin
from pytest_hookharness.model.protocol import Hook, Payload

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
    siblings: Sequence[Hook] = (),
    index: int = 0,
) -> ProcessSpec:
    """
    Return all that is needed to run a hook once as its host would.

    Args:
        profile: The host.
        hook: The hook; it must be a command.
        payload: Its standard input.
        facts: The facts of the session.
        base_env: The environment that the host's variables are added to.
        hook_timeout: Seconds after which the harness cuts the hook run although the host would wait longer.
        siblings: All hooks of the event, where they share a time budget.
        index: The hook's position among them.
    """
    rule, process = profile.events[hook.event], profile.process
    cwd = str(value_in(rule, payload, "cwd") or facts.workspace)
    tool = str(value_in(rule, payload, "tool_name") or "")
    known = {**facts.template_values, "cwd": cwd, "tool": tool}
    # From weakest to strongest: inherited, the host's own, those of the settings or the plugin.
    env = {**_inherited_env(profile, base_env), **_host_env(profile, hook, rule, known, index), **hook.env}
    env |= {name: base_env[name] for name in process.kept_workspace if name in base_env}
    return ProcessSpec(
        argv=_argv(profile, hook, env),
        cwd=cwd,
        env=env,
        stdin=Stdin(data=encode(profile, payload)),
        stdio=process.stdio,
        own_session=process.own_session,
        limit=_limit(profile, hook, rule, facts, siblings or (hook,)),
        hook_timeout=hook_timeout,
        pipe_wait=process.pipe_wait,
        kill=process.kill,
        output_limit=process.output_limit or KEPT_BYTES,
    )


def env_folder(profile: Profile, facts: Facts) -> str:
    """
    Return the folder where hooks leave variables for later commands of the agent, absolute; may be empty.
    """
    return posixpath.dirname(profile.process.env_file[1]).format(**facts.template_values)


def env_files(profile: Profile, facts: Facts, present: Collection[str]) -> tuple[str, ...]:
    """
    Return the files that the host reads before each shell command of the agent, absolute and in order.

    Args:
        profile: The host.
        facts: The facts of the session.
        present: Names of the files in its ``env_folder``.
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
    if hook.args is None:
        return (*_shell(profile, env), hook.command)
    # There is no shell to expand these variables, and the hosts document that they do it themselves.
    ends = profile.process.substituted
    names = [name for name in env if any(name.startswith(a) and name.endswith(b) for a, b in ends)]

    def filled(text: str) -> str:
        for name in names:
            text = text.replace("${" + name + "}", env[name])
        return text

    return tuple(filled(word) for word in (hook.command, *hook.args))


def _shell(profile: Profile, env: Mapping[str, str]) -> tuple[str, ...]:
    own = env.get("SHELL", "")
    return (own, "-lc") if posixpath.basename(own) in profile.process.login_shells else profile.process.shell


def _inherited_env(profile: Profile, env: Mapping[str, str]) -> dict[str, str]:
    removed = profile.process.removed
    return {
        name: value
        for name, value in env.items()
        if not any(fnmatchcase(name, pattern) for pattern in removed)
    }


def _host_env(
    profile: Profile, hook: Hook, rule: EventRule, known: Mapping[str, str], index: int
) -> dict[str, str]:
    process = profile.process
    values = {**known, "event": hook.event.lower(), "event_name": hook.event, "index": str(index)}
    filled = {name: template.format(**values) for name, template in process.env.items()}
    env = {name: value for name, value in filled.items() if value}
    if rule.env_file and process.env_file[0]:
        env[process.env_file[0]] = process.env_file[1].format(**values)
    if hook.plugin:
        values["plugin"] = posixpath.basename(hook.plugin.rstrip("/"))
        env |= {name: template.format(**values) for name, template in process.plugin_env.items()}
    return env


def _limit(profile: Profile, hook: Hook, rule: EventRule, facts: Facts, siblings: Sequence[Hook]) -> float:
    own = hook.timeout if hook.timeout is not None else rule.timeout
    own = own if rule.most is None else min(own, rule.most)
    if not rule.shared:
        return own
    budget = _milliseconds(facts.env.get(profile.process.shared_limit, ""))
    if budget is None:
        # One hook's own timeout raises the budget that all hooks share; a plugin's does not.
        raised = [other.timeout for other in siblings if other.timeout is not None and not other.plugin]
        budget = min(max([rule.timeout, *raised]), profile.process.shared_most)
    return min(hook.timeout, budget) if hook.timeout is not None else budget


def _milliseconds(written: str) -> float | None:
    return int(written) / 1000 if written.isdecimal() and int(written) > 0 else None
