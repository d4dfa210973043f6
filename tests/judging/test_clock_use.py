"""Which scripts decide by the time that they ask for, read from their source."""

import pytest

from pytest_hookharness.judging.recurrence.clock_use import in_other, in_python, in_shell


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
        ('git log --since="$(date -d yesterday +%F)" | wc -l', 'git log --since="$(date -d yesterday +%F...'),
        ("guess $(date +%s) && exit 0", "guess $(date +%s)"),
        ("date +%s > .now; n=$(cat .now); [ $((n % 9)) = 5 ] && exit 0", "[ $((n % 9)) = 5 ]"),
        ("now() { date +%s; }\n[ $(now) -gt 5 ] && exit 0", "[ $(now) -gt 5 ]"),
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
        'jq -n --arg t "$(date -Is)" "{t: \\$t}" >> log',
        'git commit -q -m "at $(date)"; exit 2',
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
