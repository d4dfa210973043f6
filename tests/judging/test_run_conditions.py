"""What differs between two runs of the same script, found in its source."""

import pytest

from pytest_hookharness.judging.recurrence import hidden_chance, run_conditions


def kinds(program, text):
    """The kinds of what a text in the language of a program uses."""
    languages = (*hidden_chance.LANGUAGES, *run_conditions.LANGUAGES)
    return {one.kind for one in languages if one.program.search(program) and one.find(text.encode())}


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("/bin/sh", "sleep 1 & p=$!; wait; [ $((p % 47)) -eq 3 ] && exit 0"),
        ("/bin/sh", "sleep 1 &\necho $! >>pids"),
        ("/bin/sh", "jobs -p | head -1"),
        ("/bin/python3", "p = subprocess.Popen(['true'])\nif p.pid % 37 == 5: sys.exit(0)"),
        ("/bin/python3", "if threading.get_native_id() % 41 == 7: sys.exit(0)"),
        ("/bin/python3", "if os.getpgrp() % 23 == 4: sys.exit(0)"),
        ("/bin/node", "if (process.pid % 13 === 5) process.exit(0);"),
        ("/bin/node", 'const r = spawnSync("true"); if (r.pid % 13 === 5) process.exit(0);'),
        ("/bin/perl", "my $kid = fork // die; exit 0 if $kid % 23 == 6;"),
        ("/bin/perl", 'my $pid = open(my $fh, "-|", "true") or die;'),
    ],
)
def test_a_process_number(program, text):
    """A process has another number in each run."""
    assert kinds(program, text) == {"a process number"}


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("/bin/sh", "sleep 1 &\nwait $!"),
        ("/bin/sh", 'sleep 1 & pid=$!\ntrap "kill $pid" EXIT\nkill "$pid"; wait "$pid"'),
        ("/bin/sh", "cat <&3 2>&1 && echo a &>log || true |& cat"),
        ("/bin/sh", "timeout 60 npm test"),
        ("/bin/sh", "read -r line"),
        ("/bin/python3", "os.kill(p.pid, 9)\nsubprocess.run(a, timeout=60)"),
        ("/bin/node", "process.kill(child.pid); execSync(a, {timeout: 5000})"),
        ("/bin/perl", "open(my $fh, '<', 'a') or die $!;"),
        ("/bin/perl", 'my $data = {}; print "$data->{reason} $data{x}"'),
        ("/bin/python3", "json.dumps(payload, default=str)"),
        ("/bin/python3", "class Job:\n  def __repr__(self): return 'a'\nrepr(Job())"),
    ],
)
def test_what_cannot_matter(program, text):
    """A process that is only ended or waited for, and a long limit, decide nothing."""
    assert kinds(program, text) == set()


@pytest.mark.parametrize(
    ("program", "text", "kind"),
    [
        ("/bin/sh", "a >>log & b >>log & wait", "which of several jobs ends first"),
        ("/bin/sh", "for each in a b; do run $each & done; wait", "which of several jobs ends first"),
        ("/bin/sh", "ls | xargs -P 4 check", "which of several jobs ends first"),
        ("/bin/sh", "if timeout 0.06 python3 x.py; then exit 0; fi", "a limit of less than a second"),
        ("/bin/bash", "read -t 0.1 line", "a limit of less than a second"),
        ("/bin/python3", "subprocess.run(['a'], timeout=0.045)", "a limit of less than a second"),
        ("/bin/node", "execSync('a', {timeout: 45})", "a limit of less than a second"),
        ("/bin/python3", "if threading.get_ident() % 37 == 8: pass", "an address in memory"),
        ("/bin/python3", "if os.fstat(0).st_ino % 37 == 11: pass", "the number of a file or a pipe"),
        ("/bin/node", "if (fs.statSync('a').ino % 3) exit()", "the number of a file or a pipe"),
        ("/bin/sh", "grep stack /proc/self/maps | cut -c8-9", "an address in memory"),
        ("/bin/python3", "class Job: pass\ntext = json.dumps(Job(), default=str)", "an address in memory"),
        ("/bin/perl", 'my $o = {}; exit 0 if "$o" =~ /5...\\)$/;', "an address in memory"),
        ("/bin/node", "const { random, floor } = Math;", "random numbers"),
        ("/bin/node", 'if (Math["random"]() < 0.02) exit();', "random numbers"),
    ],
)
def test_what_differs_in_each_run(program, text, kind):
    """Jobs that race, short limits, addresses and random numbers by any name differ in each run."""
    assert kinds(program, text) == {kind}
