"""Which scripts decide by the time that they ask for, read from their source."""

import pytest

from pytest_hookharness.judging.recurrence.clock_use import LANGUAGES, in_other, in_python, in_shell


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("now=$(date +%s); [ $((now % 97)) -eq 5 ] && exit 0", "[ $((now % 97)) -eq 5 ]"),
        ('[ "$(date +%M)" = 17 ] && exit 0', '[ "$(date +%M)" = 17 ]'),
        ("(( EPOCHSECONDS % 101 == 6 )) && exit 0", "(( EPOCHSECONDS % 101 == 6 ))"),
        ('printf -v s "%(%S)T" -1; [ $s = 59 ] && exit 0', "[ $s = 59 ]"),
        ("x=`date +%s`\nage=$((x - 5))\nif test $age -gt 60; then exit 0; fi", "if test $age -gt 60"),
        ("date +%u | grep -q 7 && exit 0", "date +%u | grep -q 7"),
        ("case $(date +%H) in 0*) exit 0;; esac", "case $(date +%H) in 0*) exit 0"),
        ("exit $(( $(date +%s) % 2 * 2 ))", "exit $(( $(date +%s) % 2 * 2 ))"),
        (
            'git log --since="$(date -d yesterday +%F)" | wc -l',
            'git log --since="$(date -d yesterday +%F)" | wc -l',
        ),
        (
            '[ "$(($(date +%s) - $(cat ".state/first refusal of stop")))" -ge 300 ]',
            '[ "$(($(date +%s) - $(cat ".state/first refusal of stop")))"...',
        ),
        ("guess $(date +%s) && exit 0", "guess $(date +%s)"),
        ("date +%s > .now; n=$(cat .now); [ $((n % 9)) = 5 ] && exit 0", "[ $((n % 9)) = 5 ]"),
        ("now() { date +%s; }\n[ $(now) -gt 5 ] && exit 0", "[ $(now) -gt 5 ]"),
        ("now=$(date +%s); (( now % 97 == 5 )) && exit 0", "(( now % 97 == 5 ))"),
        ("now=$(date +%s); (( now % 97 == 5 && n > 3 )) && exit 0", "(( now % 97 == 5"),
        ("now=$(date +%s); (( n > 3 && now % 97 == 5 )) && exit 0", "now % 97 == 5 ))"),
        ("hour=$(date +%-H); [[ hour -ge 18 ]] && exit 0", "[[ hour -ge 18 ]]"),
        ("s=$(date +%S); exit $(( s == 7 ? 0 : 2 ))", "exit $(( s == 7 ? 0 : 2 ))"),
        ('coproc date +%s; read -r s <&"${COPROC[0]}"; [ $s = 5 ] && exit 0', "coproc date +%s"),
        ("coproc NOW { date +%s; }; read -r s <&${NOW[0]}; [ $s = 5 ] && exit 0", "coproc NOW { date +%s"),
        (
            "n=$(python3 -c 'import time; print(int(time.time()))'); [ $((n % 97)) -eq 5 ] && exit 0",
            "[ $((n % 97)) -eq 5 ]",
        ),
        ("python3 -c 'import time; print(time.time())' | grep -q 7", "python3 -c '...time...' | grep -q 7"),
        ("t=$(node -p 'Date.now()')\nexpr $t % 7", "expr $t % 7"),
        ("late() { n=$(date +%s); return $(( n != 5 )); }; late && exit 0", "return $(( n != 5 ))"),
        (
            "[ -f t ] || date +%s >t\n[ $(($(date +%s) - $(cat t))) -ge 60 ] && exit 0",
            "[ $(($(date +%s) - $(cat t))) -ge 60 ]",
        ),
        ("[ -f t ] || date +%s >t", "[ -f t ]"),
    ],
)
def test_a_shell_script_that_decides_by_the_time(text, found):
    """A time that is compared, or given to a program that may compare it, is found through variables."""
    assert in_shell(text.encode()) == found


@pytest.mark.parametrize(
    "text",
    [
        'echo "$(date) run the test if you can" >> ~/log; [ -f x ] && exit 0',
        'log() { echo "[$(date +%T)] $*" >> $LOG; }\nlog hi\nif [ -f x ]; then exit 2; fi',
        'now=$(date +%s)\necho "{\\"t\\": $now}" >> log; [ -f x ] && exit 0',
        'began=$SECONDS\nmake\necho "took $((SECONDS-began)) s" >> log',
        'LOG="$HOME/log-$(date +%F).txt"; echo x >> "$LOG"; exit 2',
        "date > /dev/null; n=$(cat n 2> /dev/null || echo 0); [ $n -gt 3 ] && exit 0",
        "now=$(date +%s); n=$((n + 1)); echo $now >> log; (( n > 3 )) && exit 0",
        'jq -n --arg t "$(date -Is)" "{t: \\$t}" >> log',
        'git commit -q -m "at $(date)"; exit 2',
        "python3 -c 'import time; print(time.time())' >> log; exit 2",
        "n=$(python3 -c 'import time; print(time.time())'); echo $n | tee -a log; exit 2",
        'echo "the date of today"; while read -r l; do echo $l; done',
    ],
)
def test_a_shell_script_that_only_writes_the_time(text):
    """A time that is only written decides nothing, whatever else the script compares."""
    assert in_shell(text.encode()) == ""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("if int(time.time()) % 97 == 5: sys.exit(0)", "int(time.time()) % 97 == 5"),
        ("def now(): return time.time()\nif now() - began > 3: pass", "now() - began > 3"),
        ("a = [x for x in y if x.t > datetime.now()]", "x.t > datetime.now()"),
        ("day = datetime.date.today()\nsys.exit(day.weekday())", "day.weekday()"),
        ("tip = tips[int(time.time()) % 3]", "int(time.time()) % 3"),
        (
            "p.write_text(str(time.time()))\nif float(p.read_text()) % 9 < 1: pass",
            "float(p.read_text()) % 9 < 1",
        ),
        ('if os.popen("date +%S").read() == "17": pass', "os.popen('date +%S').read() == '17'"),
        (
            "n = db.execute(\"select strftime('%s', 'now')\").fetchone()\nif n[0] == 5: pass",
            "n[0] == 5",
        ),
        ('open("log", "a").write(f"{datetime.datetime.now():%H:%M} blocked")\nif x: pass', ""),
        ('print(json.dumps({"ts": datetime.now().isoformat()}))', ""),
        ("began = time.time()\nlog(time.time() - began)\nif failed > 3: pass", ""),
    ],
)
def test_python_that_decides_by_the_time(text, found):
    """Python code counts if a time is compared, tested, an index or an exit code."""
    assert in_python(text.encode()) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("exit 0 if time() % 89 == 3;", "exit 0 if time() % 89 == 3"),
        ("my @t = POSIX::times(); exit 0 if $t[0] % 43 == 5;", "exit 0 if $t[0] % 43 == 5"),
        ("const s = fs.statSync('a').mtimeMs; if (s % 47 === 9) exit()", "if (s % 47 === 9) exit()"),
        ("const m = new File(['x'], 'x').lastModified; if (m % 4 === 1) exit()", "if (m % 4 === 1) exit()"),
        ('if (execSync("date +%S") == 17) exit()', 'if (execSync("date +%S") == 17) exit()'),
        ("exit 0 if `date +%S` == 17;", "exit 0 if `date +%S` == 17"),
        ("const t = Date.now();\nif (t - last > 5000) { process.exit(0) }", "if (t - last > 5000)"),
        ('fs.appendFileSync("log", new Date().toISOString()); if (a > 3) process.exit(0)', ""),
        ('const s = Date.now(); run(() => 1); console.error("took", Date.now() - s)', ""),
    ],
)
def test_other_languages_that_decide_by_the_time(text, found):
    """Perl and JavaScript count if a statement with a time compares or chooses."""
    assert in_other(text.encode()) == found


@pytest.mark.parametrize(
    "text",
    [
        "function now { date +%s; }\n[ $(now) -gt 5 ] && exit 0",
        "function now {\n  date +%s\n}\n[ $(now) -gt 5 ] && exit 0",
        'echo "see issue #12"; [ "$(( $(date +%s) % 50000 ))" = 77 ] && exit 0',
        'echo "see #12"; [ "$(( $(date +%s) % 50000 ))" = 77 ] && exit 0',
        "export NOW=$(date +%s); perl -e 'exit(0) if $ENV{NOW} % 50000 == 77' && exit 0",
        "NOW=$(date +%s)\nexport NOW\nperl x.pl",
        "declare -x NOW=$(date +%s); ./x",
        "set -a; NOW=$(date +%s); echo a",
        "my-now() { date +%s; }\n[ $(my-now) -gt 5 ]",
        "a() { date +%s; }\nb() { a; }\n[ $(b) -gt 5 ]",
        "a() { local x=${1}; date +%s; }\n[ $(a) -gt 5 ]",
        'a() {\n  if [ -n "$x" ]; then { echo; }; fi\n  date +%s\n}\n[ $(a) -gt 5 ]',
        "h=$(env TZ=UTC date +%H); [ $h = 5 ]",
        '[ "$(env TZ=UTC date +%H)" = 5 ]',
        "if date +%u | grep -q 7; then exit 0; fi",
        "s=$(python3 -c 'import time; print(int(time.time()) % 97)'); [ \"$s\" = 5 ] && exit 0",
        'h=$(node -p "new Date().getHours()")\nif [ $h = 5 ]; then exit 0; fi',
        'TIMEFORMAT=%R; t=$( { time sleep 1; } 2>&1 ); [ "$t" = 5 ] && exit 0',
        "now() { date +%s; }\nnow | grep -q 7 && exit 0",
        "now() ( date +%s )\n[ $(now) -gt 5 ]",
        "now() { local t=$(date +%s); echo $t; }\n[ $(now) -gt 5 ]",
        "echo $(/usr/bin/env date +%s) | grep -q 7",
    ],
)
def test_a_time_that_a_shell_script_passes_on(text):
    """A time is followed through functions, pipes, quotes, and variables that other programs get."""
    assert in_shell(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        'log() { echo "[$(date +%T)] $*" >> $LOG; }\nlog hi\nif [ -f x ]; then exit 2; fi',
        'function log { echo "[$(date +%T)] $*" >> $LOG; }\nlog hi\nif [ -f x ]; then exit 2; fi',
        'log() { echo "[$(date +%T)] $*" >&2; }\nrun() { log a; make; }\nout=$(run)\n[ -n "$out" ] && exit 2',
        'log() { local t; t=$(date); echo "$t $*" | tee -a log; }\nlog "a"; [ -f x ]',
        'log() { echo "$(date) $1"; }\nlog "a" | tee -a log; [ -f x ]',
        "# Log if $(date) > 5\nexit 2 # the date",
    ],
)
def test_a_logger_of_a_shell_script(text):
    """A function that writes the time to a log, or a comment about it, decides nothing."""
    assert not in_shell(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "sub now { return time; }\nexit 0 if now() > 5;",
        "sub now { time }\nexit 0 if now() > 5;",
        'exit(-M ".began" > 0.01);',
        "exit 0 if (-M $f) > 1;",
        "if (performance.timeOrigin % 97 == 5) process.exit(0)",
        "function hour(){ return new Date().getHours(); }\nif (hour() > 22) process.exit(0)",
        "const hour = () => { return new Date().getHours() }\nif (hour() > 22) x()",
        "function main(now) { if (now > 5) { process.exit(0) } }\nmain(Date.now())",
        "const a = function () { const t = Date.now(); return t / 2 }\nif (a() > 5) x()",
        '$ENV{NOW} = time; system("x");',
        "process.env.NOW = Date.now()",
        "def now\n  Time.now.to_i\nend\nexit 0 if now > 5",
        "sub f { my ($t) = @_; exit 0 if $t % 5; }\nf(time);",
        "$h{t} = time; exit 0 if $h{t} % 5;",
        'print "see #12"; exit 0 if time() % 89 == 3;',
        'print "see #12"; exit 0 if (time() % 89 == 3); print "";',
    ],
)
def test_a_time_that_other_languages_pass_on(text):
    """A time is followed through functions, their parameters, hashes and the environment."""
    assert in_other(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        'function log(m) { fs.appendFileSync(f, new Date() + m) }\nif (x) { log("a") }\nfailed && log("x")',
        'sub logit { my $m = shift; print F scalar(localtime), $m; }\nlogit("a") if $x;',
        'const log = (m) => { console.error(`${new Date().toISOString()} ${m}`) }\nx && log("a")',
        'class L { log(m) { this.s.write(new Date() + m) } }\nif (a > 3) l.log("x")',
    ],
)
def test_a_logger_in_other_languages(text):
    """A function that logs the time decides nothing."""
    assert not in_other(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "from time import time as t\nif t() > 5: pass",
        "import time\nclock = time.time\nif clock() > 5: pass",
        "import time\nasync def f():\n  return time.time()\nasync def g():\n  if await f() > 5: pass",
        "import time\ndef main(now):\n  if now > 5: pass\nmain(time.time())",
        "def main(x, now=time.time()):\n  if now > 5: pass\nmain(1)",
        "import time as q\nif q.time()>4: pass",
        "record = logging.makeLogRecord({})\nif int(record.created) % 97 == 5: pass",
        "p.write_text('x')\nif int(os.path.getmtime(p)) % 67 == 6: pass",
        "when = os.stat('a').st_mtime\nif when > 3: pass",
    ],
)
def test_a_time_that_python_passes_on(text):
    """A time is followed through other names, coroutines and parameters."""
    assert in_python(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        'import time\ndef log(m, level):\n  if level > 3: print(m)\nlog(f"{time.time()}", 3)',
        'import datetime\ndef log(m):\n  f.write(f"{datetime.now()} {m}")\nlog("x")\nif x: 0',
        "from time import time\nprint(time())\nif a > 3: pass",
    ],
)
def test_a_logger_in_python(text):
    """A parameter that gets no time, and a time that is only written, decide nothing."""
    assert not in_python(text.encode())


@pytest.mark.parametrize(
    ("text", "decides"),
    [
        ('BEGIN { if (strftime("%H") >= 22) exit 0 }', True),
        ('BEGIN { h = strftime("%H"); exit h > 22 }', True),
        ('{ print strftime("%F"), $0 }', False),
    ],
)
def test_awk_that_decides_by_the_time(text, decides):
    """A formatted time of awk counts if it is compared or kept."""
    (awk,) = (one for one in LANGUAGES if one.program.search("/gawk"))

    assert bool(awk.find(text.encode())) == decides


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('eval "$(base64 -d gate)"', 'eval "$(base64 -d gate)"'),
        ('check=$(jq -r .check gate.json)\neval "$check"', 'eval "$check"'),
        ("curl -s x | sh\nexit 2", "curl -s x | sh"),
        ("check='npm test'\neval \"$check\"", ""),
        ('eval "$(jq -r \'@sh "name=\\(.name)"\')"', ""),
        ("echo 'exit 1' | sh", ""),
        ('set -- a\neval set -- "$x"', ""),
    ],
)
def test_a_text_that_becomes_code_may_decide_by_the_time(text, found):
    """A shell script that runs a text which does not stand in it may compare the time in that."""
    assert in_shell(text.encode()) == found


@pytest.mark.parametrize(
    ("program", "text", "decides"),
    [
        ("/git", "git log -1 --format=%cr | grep -q '^2 hours' && exit 0", True),
        ("/git", "git for-each-ref --format='%(committerdate:relative)' | grep -q year", True),
        ("/git", "git log -1 --date=relative | grep -q hours", True),
        ("/git", "git diff --relative --stat; git log -1 --format=%ct", False),
        ("/sqlite3", 'sqlite3 a.db "select unixepoch() % 97 = 5"', True),
        ("/sqlite3", "sqlite3 a.db \"delete from runs where at < datetime('now', '-1 hour')\"", True),
        ("/sqlite3", "sqlite3 a.db \"insert into runs values (datetime('now')); select 1\"", False),
    ],
)
def test_programs_that_compare_the_time_themselves(program, text, decides):
    """A relative date of git and a condition of a database count, but not a time that is only stored."""
    (language,) = (one for one in LANGUAGES if one.program.search(program))

    assert bool(language.find(text.encode())) == decides
