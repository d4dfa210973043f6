"""Hook traits: what the hooks of a scenario suggest to try."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import field

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.simulation.testbed import hook_source
from pytest_hookharness.simulation.testbed.testbed import Testbed

# Commands of every system, and shells. A script must be able to rely on these.
STANDARD_COMMANDS = frozenset({
    "[", "awk", "basename", "bash", "cat", "chmod", "chown", "cmp", "comm", "command", "cp", "cut",
    "dash", "date", "dd", "df", "diff", "dirname", "du", "echo", "ed", "env", "expr", "false", "find",
    "getconf", "grep", "head", "id", "join", "kill", "ln", "locale", "logname", "ls", "mkdir", "mkfifo",
    "mv", "nice", "nl", "nohup", "od", "paste", "pathchk", "pr", "printf", "ps", "pwd", "read", "rm",
    "rmdir", "sed", "sh", "sleep", "sort", "split", "stty", "tail", "tee", "test", "time", "touch",
    "tr", "true", "tsort", "tty", "umask", "uname", "uniq", "wait", "wc", "who", "write", "xargs",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class HookTraits:
    """
    What the hooks of a scenario suggest to try.

    Attributes:
        words: The words of their source.
        called: The words that stand where a command is called.
        runners: The commands that run the hooks' own scripts.
        environment: The environment of the host.
        sets: The number of configured hooks of each event.
        scripts: The content of their scripts, by path relative to the workspace.
    """

    words: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()
    runners: frozenset[str] = frozenset()
    environment: Mapping[str, str] = field(default_factory=dict)
    sets: Mapping[str, int] = field(default_factory=dict)
    scripts: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, testbed: Testbed, trace: Trace) -> HookTraits:
        """Return the traits of the hooks in a testbed in which a scenario was run."""
        sets: dict[str, int] = {}
        for hook in testbed.configuration.hooks:
            sets[hook.event] = sets.get(hook.event, 0) + 1
        hook_runs = [hook_run for _, hook_run in trace.hook_runs()]
        return cls(
            words=hook_source.words(testbed, hook_runs),
            called=hook_source.called(testbed, hook_runs),
            runners=hook_source.runners(testbed, hook_runs),
            environment=testbed.workspace.environment,
            sets=sets,
            scripts=hook_source.scripts(testbed, hook_runs),
        )

    def has(self, command: str) -> bool:
        """Whether hooks find a command on their PATH."""
        return shutil.which(command, path=self.environment.get("PATH", os.defpath)) is not None

    @property
    def tools(self) -> tuple[str, ...]:
        """
        The commands that hooks name and that may be missing elsewhere, but not those that run the hooks.
        """
        found = {word for word in self.words - STANDARD_COMMANDS - self.runners if self.has(word)}
        # Words that call a command are better candidates than other words.
        return tuple(sorted(found, key=lambda name: (name not in self.called, name)))
