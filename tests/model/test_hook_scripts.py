"""Claims about which scripts belong to a hook."""

from pathlib import Path

import pytest

from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

ONE, OTHER = ("one/hook.sh", "first"), ("other/hook.sh", "second")


def hook(command, *args):
    return Hook(event="Stop", command=command, args=args or None)


def hook_set(*hooks):
    return HookSet(host="claude-code", root=Path("/p"), files=(), hooks=hooks, sources=(ONE, OTHER))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (hook("bash $DIR/other/hook.sh"), [OTHER]),
        (hook('"$DIR"/one/hook.sh --fast'), [ONE]),
        (hook("bash", "${DIR}/one/hook.sh"), [ONE]),
        (hook("one/hook.sh; other/hook.sh"), [ONE, OTHER]),
        (hook('"$DIR/hook.sh"'), [ONE, OTHER]),
        (hook('"$DIR"/another/hook.sh'), [ONE, OTHER]),
        (hook('"$DIR"/none/one/hook.sh'), [ONE]),
        (hook("true"), []),
    ],
)
def test_the_folders_in_a_command_tell_scripts_apart(given, found):
    """Of scripts with one name, a hook has those of which its command names more folders."""
    assert hook_set(given).sources_of(given) == found


def test_a_script_belongs_to_the_hooks_that_name_it():
    """A script belongs to the hooks whose command names its folder, or no folder."""
    hooks = hook("one/hook.sh"), hook("other/hook.sh"), hook("hook.sh")
    assert hook_set(*hooks).hooks_of("one/hook.sh") == [hooks[0], hooks[2]]


def test_a_script_that_a_command_names_with_all_its_folders():
    """A path that a command names whole counts for more than the end of a longer one."""
    short, long = ("hooks/run.sh", "first"), (".claude/hooks/run.sh", "second")
    of_short, of_long = hook('"$DIR"/hooks/run.sh'), hook('"$DIR"/.claude/hooks/run.sh')
    every = HookSet(
        host="claude-code", root=Path("/p"), files=(), hooks=(of_short, of_long), sources=(short, long)
    )
    assert (every.sources_of(of_short), every.sources_of(of_long)) == ([short], [long])
