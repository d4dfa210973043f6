"""What differs between two runs of the same script, found in its source."""

import re
import time

import pytest

from pytest_hookharness.judging.recurrence import hidden_chance, run_conditions

PROCESS, ADDRESS = "a process number", "an address in memory"
FILE = "the number of a file or a pipe"
ORDER, LIMIT = "which of several jobs ends first", "a limit of less than a second"
CHANCE = "random numbers"
SH, PYTHON, NODE, PERL = "/bin/sh", "/bin/python3", "/bin/node", "/bin/perl"


def kinds(program, text):
    """The kinds of what a text in the language of a program uses."""
    languages = (*hidden_chance.LANGUAGES, *run_conditions.LANGUAGES)
    return {one.kind for one in languages if one.program.search(program) and one.find(text.encode())}


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (SH, "sleep 1 & p=$!; wait; [ $((p % 47)) -eq 3 ] && exit 0"),
        (SH, "sleep 1 & wait; echo $! >>pids"),
        (SH, 'sleep 1 & wait; echo "job $!" >>pids'),
        (SH, "sleep 1 & p=$! ; wait; (( p % 2 )) && exit 0"),
        (SH, "sleep 1 & p=$!; wait; [[ p -gt 9 ]] && exit 0"),
        (SH, 'sleep 1 & pids+=($!); wait; for p in "${pids[@]}"; do echo "$p"; done'),
        (SH, 'sleep 1 & one=$!; wait; other=$one; test "${other%7}" = "$other"'),
        (SH, 'bash -c "sleep 1 & wait; echo \\$! >>pids"'),
        (SH, "sleep 1 & wait\ncat <<EOF\n$!\nEOF"),
        (SH, "jobs -p | head -1"),
        (PYTHON, "p = subprocess.Popen(['true'])\nif p.pid % 37 == 5: sys.exit(0)"),
        (PYTHON, "if threading.get_native_id() % 41 == 7: sys.exit(0)"),
        (PYTHON, "if os.getpgrp() % 23 == 4: sys.exit(0)"),
        (PYTHON, "if os.fork() % 23 == 4: sys.exit(0)"),
        (PYTHON, "print 'no program of today', p.pid"),
        (NODE, "if (process.pid % 13 === 5) process.exit(0);"),
        (NODE, 'const r = spawnSync("true"); if (r.pid % 13 === 5) process.exit(0);'),
        (NODE, "const { pid } = process;"),
        (NODE, 'if (process["pid"] % 13 === 5) process.exit(0);'),
        (NODE, "fs.appendFileSync(log, `${process.pid} http://a // b`);"),
        (PERL, "my $kid = fork // die; exit 0 if $kid % 23 == 6;"),
        (PERL, 'my $pid = open(my $fh, "-|", "true") or die;'),
    ],
)
def test_a_process_number(program, text):
    """A process has another number in each run."""
    assert kinds(program, text) == {PROCESS}


@pytest.mark.parametrize(
    "text",
    [
        "sleep 1 &\nwait $!",
        'sleep 1 & pid=$!\ntrap "kill $pid" EXIT\nkill "$pid"; wait "$pid"',
        'sleep 1 & pids+=($!)\nfor p in "${pids[@]}"; do wait "$p"; done',
        'sleep 1 & pid=$!; wait "$pid"; mkdir -p pid; echo pid',
        "sleep 1 & pid=$!; ps -p $pid >/dev/null; wait",
        'sleep 1 & pid=$!; [ -n "$pid" ] && kill "$pid"; wait',
        'sleep 1 >a & srv=$!; trap \'kill "$srv"\' EXIT; echo "starting srv"; wait',
        "sleep 1 & wait; kill $(jobs -p) 2>/dev/null",
        "cleanup() { kill $pid; }\nsleep 1 & pid=$!\nwait",
        "cat <<'EOF'\n$!\nEOF",
        "echo 'use $! here' # and $! there",
    ],
)
def test_a_process_that_is_only_handled(text):
    """A process that is only ended, waited for or looked for by its number decides nothing."""
    assert kinds(SH, text) == set()


def test_a_command_is_no_word_of_a_text():
    """The word of a command within a text hides no number."""
    assert kinds(SH, 'sleep 1 & wait; echo "wait $!" >a') == {PROCESS}


@pytest.mark.parametrize(
    "text",
    [
        "a >>log & b >>log & wait",
        "for each in a b; do run $each & done; wait",
        "for each in a b; do\n  run $each &\n  n=1\ndone\nwait",
        "(sleep 0.02; : > done) & sleep 0.05; [ ! -f done ] && exit 0",
        "(sleep 0.02; : > done) & sleep 0.05; [ ! -f done ] && exit 0; wait",
        'bg() { "$@" & }; bg a; bg b; wait',
        "a >log & echo b >>log; wait",
        "a & check; wait",
        "a & b & wait -n",
        "a & echo unsure; exit 2",
        "bash -c 'a & b & wait'",
        "bash <<EOF\na & b & wait\nEOF",
        'found="$(a & b & wait)"',
        "ls | xargs -P 4 check",
        "ls | xargs -0 -n 1 -P4 check",
        "ls | xargs -0P4 check",
        "ls | xargs -I {} --max-procs=2 check {}",
        "ls | xargs -d '\\n' -P \"$(nproc)\" check",
        "ls | parallel check",
    ],
)
def test_jobs_in_parallel(text):
    """A job that runs beside another one, or beside what may read its files, ends before or after it."""
    assert kinds(SH, text) == {ORDER}


@pytest.mark.parametrize(
    "text",
    [
        "cat <&3 2>&1 && echo a &>log || true |& cat",
        "ls | xargs grep -lP 'x\\d'",
        "ls | xargs cp -P",
        "ls | xargs -n 1 -P 1 check",
        "cat <<EOF\nR & D & Q\nEOF",
        "cat <<-'END'\n\tR & D & Q\n\tEND\nexit 2",
        "echo 'one & two\n& three' \"four & five\n& six\" # a & b & c",
        "python3 -c '\na = 1 & 2\nb = a & 3\n'",
        '(( n & 1 )) && (( n & 2 )); x=$(( n & 4 )); echo "$(( n & 8 ))"',
        "case $1 in\n  a) x=1 ;;&\n  b) y=1 ;&\n  c) z=1 ;;\nesac",
        "a & wait; b & wait $!; cat log",
        "for each in a b; do run $each & wait; done",
        "notify-send done >/dev/null 2>&1 &\necho no >&2\nexit 2",
        "( curl example.org & )\nexit 2",
        "a >log & pid=$!; while kill -0 $pid; do sleep 1; done; wait $pid; cat log",
        'echo "${name//&/and} ${name//&/or}"',
    ],
)
def test_jobs_that_cannot_matter(text):
    """A job that is waited for at once, or that comes last, and other uses of its sign are no race."""
    assert kinds(SH, text) == set()


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (SH, "if timeout 0.06 python3 x.py; then exit 0; fi"),
        (SH, "timeout -k 1 0.2 cmd"),
        (SH, "timeout --signal=KILL --preserve-status .2s cmd"),
        (SH, 'found="$(timeout -s KILL 0.2 cmd "$x")"'),
        ("/bin/bash", "read -t 0.1 line"),
        ("/bin/bash", 'read -rp "and then?" -t 0.1 line'),
        (SH, "curl --max-time 0.2 example.org"),
        (PYTHON, "subprocess.run(['a'], timeout=0.045)"),
        (PYTHON, "p.wait(0.05)"),
        (PYTHON, "p.wait(timeout=0.05)"),
        (PYTHON, "signal.setitimer(signal.ITIMER_REAL, 0.05)"),
        (PYTHON, "select.select([0], [], [], 0.05)"),
        (NODE, "execSync('a', {timeout: 45})"),
        (NODE, "fetch(url, { signal: AbortSignal.timeout(50) })"),
        (PERL, "ualarm(50_000);"),
        (PERL, "alarm 0.5;"),
        (PERL, "setitimer(ITIMER_REAL, 0.05);"),
    ],
)
def test_a_limit_below_a_second(program, text):
    """A program just meets such a limit, or misses it."""
    assert kinds(program, text) == {LIMIT}


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (SH, "timeout 60 npm test; timeout -k 0.5 60 npm test"),
        (SH, "read -r line; read -t 5 line"),
        (SH, "echo 'timeout 0.2 cmd' # timeout 0.2 cmd"),
        (PYTHON, "subprocess.run(a, timeout=60)\np.wait(5)\nsignal.setitimer(0, 2)\nd.get('x', 0.5)"),
        (PYTHON, "# p.wait(0.05)\n'p.wait(0.05)'"),
        (NODE, "execSync(a, {timeout: 5000}); execSync(a, {timeout: 0}); execSync(a, {timeout: 30 * 1000})"),
        (PERL, "alarm 30; alarm(5); setitimer(ITIMER_REAL, 5);"),
    ],
)
def test_a_longer_limit(program, text):
    """A limit of seconds, or none at all, is none that a program just meets."""
    assert kinds(program, text) == set()


@pytest.mark.parametrize(
    ("program", "text", "kind"),
    [
        (PYTHON, "if threading.get_ident() % 37 == 8: pass", ADDRESS),
        (PYTHON, "class Job: pass\ntext = json.dumps(Job(), default=str)", ADDRESS),
        (PYTHON, "class Job(object):\n  pass\njobs = {'a': Job()}\njson.dumps(jobs, default=repr)", ADDRESS),
        (PYTHON, "class Job: pass\nclass Test(Job): pass\njob = Test()\nprint(f'{job}')", ADDRESS),
        (PYTHON, "class Job: pass\ndef log(job): return '%s' % job", ADDRESS),
        (PYTHON, "class Job:\n  def log(self): return str(self)", ADDRESS),
        (PYTHON, "def main(): print(f'{main}')", ADDRESS),
        (PYTHON, "def main(): pass\nrepr(main)", ADDRESS),
        (SH, "grep stack /proc/self/maps | cut -c8-9", ADDRESS),
        (SH, "grep stack /proc/$$/maps | cut -c8-9", ADDRESS),
        (SH, 'grep stack "/proc/1/smaps"', ADDRESS),
        (PERL, 'my $o = {}; exit 0 if "$o" =~ /5...\\)$/;', ADDRESS),
        (PERL, 'my $o = bless {}; print "a" . "of ${o} and $o->name";', ADDRESS),
        (PYTHON, "if os.fstat(0).st_ino % 37 == 11: pass", FILE),
        (PYTHON, "os.readlink('/proc/self/fd/0')", FILE),
        (NODE, "if (fs.statSync('a').ino % 3) exit()", FILE),
        (SH, "stat -Lc %i /dev/stdin", FILE),
        (SH, "x=$(stat -c '%i %s' a)", FILE),
        (SH, "ls -i a; ls", FILE),
        (SH, "ls -l -ai a", FILE),
        (SH, "ls --inode a", FILE),
        (SH, "readlink /proc/self/fd/0", FILE),
        (SH, 'pipe="$(readlink /dev/stdin)"', FILE),
        (PYTHON, "for job in as_completed(jobs): pass", ORDER),
        (PYTHON, "for one in pool.imap_unordered(f, xs): pass", ORDER),
        (PYTHON, "pid, status = os.wait()", ORDER),
        (NODE, "await Promise.race([a, b])", ORDER),
        (NODE, "if (os.freemem() < 1e6) exit()", "the free memory of the machine"),
        (NODE, "const { freemem } = require('os')", "the free memory of the machine"),
        (NODE, "const { random, floor } = Math;", CHANCE),
        (NODE, 'if (Math["random"]() < 0.02) exit();', CHANCE),
        (NODE, "const M = Math; if (M.random() < 0.02) exit();", CHANCE),
        (NODE, 'const { randomInt } = require("crypto");', CHANCE),
    ],
)
def test_what_differs_in_each_run(program, text, kind):
    """Addresses, numbers of files, the order of jobs and random numbers differ in each run."""
    assert kinds(program, text) == {kind}


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (NODE, "console.error('freemem is low') // os.freemem()"),
        (PYTHON, "os.kill(p.pid, 9)\nos.killpg(os.getpgid(p.pid), 9)"),
        (PYTHON, "from concurrent.futures import wait\nimport os\nwait(jobs)\n# p.pid, os.fork"),
        (PYTHON, "json.dumps(payload, default=str)"),
        (PYTHON, "class Job: pass\nJob().run()\njson.dumps(x, default=str)"),
        (PYTHON, "class Job: pass\njob = json.load(f)\nprint(f'{job}', str(Job))"),
        (PYTHON, "class Job: pass\njob = Job()\nprint(f'{job.name}')"),
        (PYTHON, "class Job:\n  def __repr__(self): return 'a'\nrepr(Job())"),
        (PYTHON, "@dataclass\nclass Res:\n  a: int\nrepr(Res(1))"),
        (PYTHON, "@dataclass(frozen=True)\nclass Res:\n  a: int\nprint(f'{Res(1)}')"),
        (PYTHON, "class Res(NamedTuple):\n  a: int\nrepr(Res(1))"),
        (PYTHON, "class Res(Enum):\n  A = 1\nstr(Res.A)"),
        (PYTHON, "def main(): return 1\nprint(f'{main()}')"),
        (PYTHON, "def reason(): return 1\ndef f(reason): print(f'{reason}')"),
        (NODE, "process.kill(child.pid); process.kill(-get(child.pid), 'SIGKILL')"),
        (NODE, "// writes no pid file\n/* process.pid */ const a = 'the pid'; // process.pid"),
        (NODE, "const a = {random: 1, pid: 2}; const random = a;"),
        (NODE, "// no Math.random here"),
        (NODE, "fs.rmSync('hook.pid'); console.log('timeout: 5, see a.ino');"),
        (PERL, "open(my $fh, '<', 'a') or die $!; # the fork of the project"),
        (PERL, 'my $data = {}; print "$data->{reason} $data{x}"'),
        (PERL, 'my $out = {a => 1}; print "" . encode_json($out) . "\\n";'),
        (PERL, 'my $list = [1]; print "failed: @$list\\n"; print "@{$list} $$list[0] $list->[0]";'),
        (PERL, "my %h = (fork => 1); print $h{fork};"),
        (SH, "diff a/self/maps b/proc/self/maps"),
        (SH, "# reads no /proc/self/maps"),
        (SH, "stat -c %Y a; stat -c '%%i' a; ls -l; find . -name '*.i'; git log --format=%i"),
        (SH, 'readlink -f "$0"; cat /dev/stdin'),
    ],
)
def test_what_cannot_matter(program, text):
    """Texts of their own, comments, and the ways to end a process decide nothing."""
    assert kinds(program, text) == set()


def test_code_of_another_language_is_no_shell():
    """A text in quotes that no shell runs has no jobs, and one that a shell runs has."""
    assert kinds(SH, "awk 'BEGIN { x & y & z }'") == set()
    assert kinds(SH, "sh -c 'x & y & z'") == {ORDER}


def seconds(find, text):
    """The least time that a search takes, of two."""

    def once():
        begin = time.process_time()
        find(text.encode())
        return time.process_time() - begin

    return min(once() for _ in range(2))


REPEATED = [
    "read -",
    "xargs ",
    "vN=$!\n",
    "\n",
    "= open ",
    "&",
    "a=",
    "timeout -k ",
    "# ",
    "/*",
    '"',
    "((",
    "$(",
    "kill(",
]


@pytest.mark.nightly
@pytest.mark.parametrize("text", [*REPEATED, '{"pid":1,"timeout":', "eJzt3Vmd", "stat -c "])
@pytest.mark.parametrize("begin", ["", "class A: fork pid timeout: x=$! & ("])
def test_a_long_text(begin, text):
    """A text of twice the length takes no more than about twice the time."""
    for language in (*run_conditions.LANGUAGES, *hidden_chance.LANGUAGES):
        once, twice = (begin + text * (length // len(text)) for length in (10_000, 20_000))
        limit = 3 * seconds(language.find, once) + 0.03
        assert seconds(language.find, twice) < limit, language.kind


@pytest.mark.nightly
def test_a_long_text_can_fail():
    """A search that tries all pairs of places takes longer than that."""
    find = re.compile(rb"=[^;]*=[^;]*-").search
    assert seconds(find, "=" * 1_000) > 3 * seconds(find, "=" * 500) + 0.03
