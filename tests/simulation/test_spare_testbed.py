"""Testbeds that one test leaves for the next: as new, or not used again."""

from __future__ import annotations

import os

import pytest

from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.scenario_files import scenario_from
from pytest_hookharness.simulation.session.single_event import run_event
from pytest_hookharness.simulation.testbed import spare_testbed
from pytest_hookharness.simulation.testbed.run_settings import Settings

# All that a hook sees of its surroundings, but for numbers that differ in any two sandboxes, and for the word
# by which the kernel marks the first mount of an overlay.
PORTRAIT = r"""
echo "$$ $PPID $(cd /proc && echo [0-9]*)"; hostname; pwd; umask; ulimit -a; env | sort
echo $HOME; find . .. "$HOME" /tmp /var/tmp /dev /root -xdev -printf '%p %y %m %U %s %l\n' | sort
sed 's/^[0-9]* [0-9]* [^ ]* //; s/work=[^, ]*//; s,/fd/[0-9]*,,g; s/,uuid=on//' /proc/self/mountinfo | sort
cut -d: -f1 /proc/net/dev; cat /proc/sysvipc/shm; ls -l /proc/self/fd | wc -l
[ $(($(date +%s) - $(date +%s -r ..))) -le 60 ] && echo young
"""
STOP = {"name": "test", "files": {"note": "text", "run.sh": "#!/bin/sh\n"}}


def scenario(command, **keys):
    return scenario_from({**STOP, "hooks": {"Stop": command}, **keys})


def fire(testbed):
    (hook_run,) = run_event(testbed, "Stop", {}).hooked.hook_runs
    assert hook_run.run is not None
    return hook_run.run.stdout.text


def use(harness, command, **keys):
    """Run a hook in a testbed of a test; return it, what the hook printed, and leave it for the next test."""
    testbed = harness.open_testbed(scenario(command, **keys))
    try:
        return testbed, fire(testbed)
    finally:
        harness.give_back(testbed)


@pytest.fixture
def old(monkeypatch):
    """No testbed is too old, however slow the machine is."""
    monkeypatch.setattr(spare_testbed, "_MAX_AGE", 3600.0)


@pytest.fixture(params=[None, Tier.SUBREAPER], ids=["best tier", "subreaper"])
def harness_of_tier(request, tmp_path):
    with Harness(Settings(base=tmp_path / "base", tier=request.param)) as made:
        yield made


@pytest.mark.slow
@pytest.mark.usefixtures("old")
def test_a_hook_cannot_tell_that_a_testbed_was_used_before(harness):
    """A hook sees the same processes, files, mounts, network and variables in a spare testbed as in a new."""
    with harness.open_testbed(scenario(PORTRAIT)) as other:
        new = fire(other)
    first, seen = use(harness, PORTRAIT)
    sandbox = first.sandbox
    second, again = use(harness, PORTRAIT)

    assert second is first is not other
    # Only in namespaces can it be renewed, which is what is shown here; elsewhere another one is opened.
    assert (second.sandbox is sandbox) == sandbox.contained
    assert new.splitlines()[-1] == "young"
    assert seen == new
    assert again == new


@pytest.mark.nightly
@pytest.mark.usefixtures("old")
@pytest.mark.parametrize(
    "command",
    [
        "echo x > new",
        "echo more >> note",
        "echo text | tr -d '\\n' > note",
        "chmod 600 note",
        "touch -r note . && touch -d @1 note",
        "cp -p note copy && mv copy note",
        "mkdir d && rmdir d",
        "ln note other; rm other",
        'echo x > "$HOME/.rc"',
        'echo x > "$TMPDIR/kept"',
        "echo x > /tmp/kept",
        "echo x > /var/tmp/kept",
        "echo x > /dev/shm/kept",
    ],
)
def test_a_testbed_in_which_anything_was_touched_is_not_used_again(harness_of_tier, tmp_path, command):
    """What a hook writes, moves or marks, though it is as before afterwards, ends its testbed."""
    harness = harness_of_tier
    with harness.open_testbed(scenario("true")) as testbed:
        if command.endswith(("/tmp/kept", "/shm/kept")) and not testbed.sandbox.contained:
            pytest.skip("these are the machine's own folders there")
    # One command for all, so that all tests ask for the same testbed.
    (tmp_path / "turn").touch()
    in_turn = f"if read x < {tmp_path}/turn; then {command}; fi"
    new, again = use(harness, in_turn)[0], use(harness, in_turn)[0]
    (tmp_path / "turn").write_text("now\n")
    touched, _ = use(harness, in_turn)
    after, _ = use(harness, in_turn)
    clean, listed = use(harness, "ls -A . $HOME $TMPDIR; cat note")

    assert touched is again is new
    assert after is not touched
    assert clean.workspace.base.name == "test"
    assert "kept" not in listed
    assert listed.split()[-1] == "text"


@pytest.mark.nightly
@pytest.mark.usefixtures("old")
@pytest.mark.parametrize(
    ("command", "look"),
    [
        ("hostname changed", "hostname"),
        ("mount -n -t tmpfs none /mnt; echo x > /mnt/kept", "ls /mnt"),
        ("ipcmk -M 64 >/dev/null", "cat /proc/sysvipc/shm"),
        ("ip link set lo down || exit 3", "cat /sys/class/net/lo/flags /proc/net/if_inet6 /proc/net/route"),
        ("(setsid sleep 60 &) >/dev/null 2>&1", "echo /proc/[0-9]*"),
    ],
)
def test_nothing_of_the_kernel_stays(harness, tmp_path, command, look):
    """Names, mounts, shared memory, network settings and processes of one test do not reach the next."""
    with harness.open_testbed(scenario(look)) as testbed:
        if not testbed.sandbox.contained:
            pytest.skip("without namespaces these are the machine's")
        expected = fire(testbed)
    # One command for both, so that both tests ask for the same testbed.
    turn = f"{tmp_path}/turn"
    both = f"if read x < {turn}; then {look}; else {command}; {look}; fi"
    (tmp_path / "turn").touch()
    first, changed = use(harness, both)
    (tmp_path / "turn").write_text("second\n")
    second, seen = use(harness, both)

    assert second is first
    assert changed != expected
    assert seen == expected


@pytest.mark.nightly
@pytest.mark.usefixtures("old")
def test_a_changed_surrounding_ends_a_testbed(harness, monkeypatch, tmp_path):
    """Another PATH, and a folder that a hook names and that is there only now, are seen by the next test."""
    command = f"echo $PATH; cat {tmp_path}/settings/file 2>/dev/null"
    first, _ = use(harness, command)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    second, path = use(harness, command)
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings" / "file").write_text("found")
    third, found = use(harness, command)

    assert len({id(one) for one in (first, second, third)}) == 3
    assert f":{tmp_path}:" in path
    assert found.endswith("found")


@pytest.mark.usefixtures("old")
def test_a_hook_sees_what_a_test_changed_meanwhile(harness, tmp_path):
    """A file that a hook looked for is as the next test left it: added, changed, replaced or removed."""
    for name in ("replaced", "removed", "changed"):
        (tmp_path / name).write_text("old")
    command = f"cd {tmp_path}; cat absent replaced removed changed 2>/dev/null; ls"
    first, before = use(harness, command)
    (tmp_path / "absent").write_text("new ")
    (tmp_path / "temporary").write_text("new ")
    (tmp_path / "temporary").replace(tmp_path / "replaced")
    (tmp_path / "removed").unlink()
    (tmp_path / "changed").write_text("new")
    second, after = use(harness, command)

    assert second is first
    assert before.split() == ["oldoldoldchanged", "removed", "replaced"]
    assert after.split() == ["new", "new", "newabsent", "changed", "replaced"]


@pytest.mark.usefixtures("old")
def test_a_folder_in_the_place_of_another_ends_a_testbed(harness, tmp_path):
    """Where a folder that hooks see was replaced, the next test sees the other one."""
    folder = tmp_path / "named"
    folder.mkdir()
    (folder / "file").write_text("old")
    first, before = use(harness, f"cat {folder}/file")
    folder.rename(tmp_path / "gone")
    folder.mkdir()
    (folder / "file").write_text("new")
    second, after = use(harness, f"cat {folder}/file")

    assert second is not first
    assert (before, after) == ("old", "new")


@pytest.mark.nightly
@pytest.mark.usefixtures("old")
@pytest.mark.parametrize(
    "command",
    [
        (
            "mount -n -t tmpfs none /mnt && umount -n /mnt && umount -n /dev/full"
            " && mount -n --bind /dev/zero /dev/full"
        ),
        "renice -n 5 -p 1 >/dev/null",
        "echo 500 > /proc/1/oom_score_adj",
        "echo 0x7f > /proc/1/coredump_filter",
        "echo 123456 > /proc/1/timerslack_ns",
        "ionice -c 3 -p 1",
        "prlimit --pid 1 --nofile=100",
        "taskset -p 1 1 >/dev/null",
    ],
)
def test_what_cannot_be_undone_ends_the_sandbox(harness, command):
    """Where a hook changed the mounts, even back again, or the first process, the next test has others."""
    with harness.open_testbed(scenario("true")) as testbed:
        if not testbed.sandbox.contained:
            pytest.skip("no namespaces here")
    # The affinity cannot be changed where there is one processor.
    changed = f"{command} || echo not"
    first, printed = use(harness, changed)
    sandbox = first.sandbox
    second, _ = use(harness, changed)

    assert second is first
    assert second.sandbox is not sandbox or printed.endswith("not\n")


@pytest.mark.slow
@pytest.mark.usefixtures("old")
def test_a_new_scenario_gets_the_name_of_the_spare_one(harness):
    """The folder of a testbed that waits is away before another scenario needs its name."""
    first, _ = use(harness, "true")
    second, _ = use(harness, "pwd")
    played = harness.simulate(scenario("true"))

    assert second.workspace.base == first.workspace.base
    assert played.trace.turns
    assert not first.workspace.base.exists()


def test_an_old_testbed_is_not_used_again(harness, monkeypatch):
    """A testbed is used again only while its files are as young as those of a new one may be."""
    first, _ = use(harness, "true")
    monkeypatch.setattr(spare_testbed, "_MAX_AGE", 0.0)
    second, _ = use(harness, "true")

    assert second is not first


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize("keys", [{"commands": {"make": {}}}, {"mask": ["note"]}, {"git": True}])
def test_a_testbed_that_keeps_records_is_used_once(harness, keys):
    """Where test doubles record calls, or a mask hides files, each test has a testbed of its own."""
    first, _ = use(harness, "true", **keys)
    second, _ = use(harness, "true", **keys)

    assert second is not first
