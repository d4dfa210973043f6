"""Hooks that never allow the stop: by intent, or by the mistakes that people make."""

from __future__ import annotations

import random

from .subject import PYTHON, SH, Subject, hook, limit

NODE = "#!/usr/bin/env node"


def always(dice: random.Random) -> Subject:
    """It refuses, whatever happens."""
    return hook(dice, f"{dice.choice(('set -eu', 'umask 077'))}\ncat > /dev/null\n@R", head=SH)


def dated_log(dice: random.Random) -> Subject:
    """It writes a line with the time, and refuses."""
    form = dice.choice(("+%T", "-Is", "+%s.%N", "-R"))
    return hook(dice, 'echo "$(date @F) stop refused" >> $p/stop.log\n@R', F=form)


def input_log(dice: random.Random) -> Subject:
    """It keeps what it was given, a line each time."""
    return hook(dice, "cat >> $p/payloads.jsonl\necho >> $p/payloads.jsonl\n@R")


def list_of_inputs(dice: random.Random) -> Subject:
    """It keeps what it was given in a list that it reads and writes as a whole."""
    body = """
f = p / "stop_hook.json"
log = json.loads(f.read_text()) if f.exists() else []
log.append(payload)
f.write_text(json.dumps(log, indent=2))
@R"""
    return hook(dice, body, head=PYTHON)


def counts_and_tells(dice: random.Random) -> Subject:
    """It says which attempt of how many this is, and never compares."""
    most = dice.choice((3, 5, 10))
    body = """
n=$(( $(cat $p/attempt 2>/dev/null || echo 0) + 1 ))
echo $n > $p/attempt
echo "attempt $n of @M: run the tests" >&2
exit 2"""
    return hook(dice, body, M=most)


def counts_in_a_pipe(dice: random.Random) -> Subject:
    """The count is raised in a subshell, and so is lost."""
    body = """
n=0
yes | head -n 3 | while read -r _; do n=$((n + 1)); done
export GATE_TRIES=$((${GATE_TRIES:-0} + 1))
[ $n -ge 3 ] && exit 0
[ "$GATE_TRIES" -ge 3 ] && exit 0
@R"""
    return hook(dice, body)


def counts_in_memory(dice: random.Random) -> Subject:
    """The count is a variable of the program."""
    body = """
const fs = require("fs");
let attempts = 0;
const input = JSON.parse(fs.readFileSync(0, "utf8"));
attempts += 1;
if (attempts > 3) process.exit(0);
fs.appendFileSync("gate.log", `${Date.now()} ${input.session_id} ${attempts}\\n`);
console.log(JSON.stringify({ decision: "block", reason: `Attempt ${attempts}` }));"""
    return hook(dice, body, head=NODE, needs=("node",))


def own_folder_each_time(dice: random.Random) -> Subject:
    """The count is kept in a new folder, which is removed at the end."""
    body = """
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
n=$(cat $d/n 2>/dev/null || echo 0)
[ $n -ge @M ] && exit 0
echo $((n + 1)) > $d/n
@R"""
    return hook(dice, body, M=limit(dice, 9))


def starts_over(dice: random.Random) -> Subject:
    """At the limit the count starts again, and the stop is refused as ever."""
    most = dice.choice((2, 3, 5, 7, 12, 13, 20))
    body = """
n=$(( $(cat $p/cycle 2>/dev/null || echo 0) + 1 ))
[ $n -ge @M ] && { n=0; echo "$(date +%T) new round" >> $p/rounds.log; }
echo $n > $p/cycle
@R"""
    return hook(dice, body, M=most)


def rare_message(dice: random.Random) -> Subject:
    """Every so often the refusal has other words."""
    most = dice.choice((3, 6, 11, 14, 17))
    body = """
n=$(cat $p/k 2>/dev/null || echo 0)
echo $(( (n + 1) % @M )) > $p/k
if (( n == @M - 1 )); then echo "take a break" >&2; else echo "go on" >&2; fi
exit 2"""
    return hook(dice, body, M=most)


def limit_that_moves(dice: random.Random) -> Subject:
    """Each refusal moves the limit as well."""
    body = """
. $p/gate 2>/dev/null || { tries=0; most=@M; }
[ $tries -ge $most ] && exit 0
echo "tries=$((tries + 1)) most=$((most + 1))" > $p/gate
@R"""
    return hook(dice, body, M=limit(dice, 20))


def never_odd(dice: random.Random) -> Subject:
    """A count in steps of two is compared with an odd number."""
    body = """
n=$(cat $p/n 2>/dev/null || echo 0)
[ "$n" = @M ] && exit 0
echo $((n + 2)) > $p/n
@R"""
    return hook(dice, body, M=2 * limit(dice, 70) + 1)


def saturated(dice: random.Random) -> Subject:
    """A count that stays at its maximum, below the limit."""
    most = limit(dice, 40, 2)
    body = """
f = p / "level"
n = int(f.read_text()) if f.exists() else 0
if n > @M:
    sys.exit(0)
f.write_text(str(min(n + 1, @M)))
@R"""
    return hook(dice, body, head=PYTHON, M=most)


def trimmed_history(dice: random.Random) -> Subject:
    """A history with this number of entries must have more."""
    most = dice.choice((5, 10, 25, 60))
    body = """
f = p / "history.json"
seen = collections.deque(json.loads(f.read_text()) if f.exists() else [], maxlen=@M)
if len(seen) > @M:
    sys.exit(0)
seen.append({"at": round(time.time(), 3), "event": payload["hook_event_name"]})
f.write_text(json.dumps(list(seen)))
@R"""
    return hook(dice, body, head=PYTHON, M=most)


def rotated_log(dice: random.Random) -> Subject:
    """A log is cut to its last lines before the lines are counted."""
    most = dice.choice((4, 10, 30))
    body = """
echo "$(date +%s) refused" >> $p/g.log
tail -n @M $p/g.log > $p/g.new && mv $p/g.new $p/g.log
[ $(wc -l < $p/g.log) -gt @M ] && exit 0
@R"""
    return hook(dice, body, M=most)


def generator_off_target(dice: random.Random) -> Subject:
    """A congruential generator of even numbers is to give an odd one."""
    body = """
x=$(cat $p/x 2>/dev/null || echo @S)
(( x % 2 )) && exit 0
echo $(( (x * 5 + 2) % @M )) > $p/x
@R"""
    return hook(dice, body, S=2 * dice.randrange(8), M=dice.choice((16, 32, 64, 256)))


def collatz_misses(dice: random.Random) -> Subject:
    """Halve or triple and add one, until it is a multiple of three: it never is."""
    body = """
read -r x 2>/dev/null < $p/x || x=@S
(( x % 3 == 0 )) && exit 0
(( x % 2 ? (x = 3 * x + 1) : (x /= 2) ))
echo $x > $p/x
@R"""
    return hook(dice, body, S=dice.choice((7, 25, 31, 41)))


def open_items(dice: random.Random) -> Subject:
    """A list has open items, and nobody works on it."""
    todo = "".join(f"- [{dice.choice('x ')}] item {n}\n" for n in range(dice.randint(2, 20))) + "- [ ] last\n"
    body = """
left=$(grep -c '^- \\[ \\]' TODO.md)
[ "$left" -eq 0 ] && exit 0
echo "$left items are open" >&2
exit 2"""
    return hook(dice, body, files={"TODO.md": todo})


def failing_check(dice: random.Random) -> Subject:
    """A check fails and its output is kept."""
    body = """
if python3 -c 'import check' > $p/check.out 2>&1; then exit 0; fi
echo "checks failed: $(tail -n 1 $p/check.out)" >&2
exit 2"""
    return hook(dice, body, files={"check.py": "assert 1 + 1 == 3, 'arithmetic'\n"})


def uncommitted(dice: random.Random) -> Subject:
    """There are changes that are not committed, one of them its own log."""
    body = """
echo "asked" >> .stop-log
[ -z "$(git status --porcelain)" ] && exit 0
echo "commit your $(git status --porcelain | wc -l) changes" >&2
exit 2"""
    return hook(dice, body, git=True, needs=("git",))


def stale_lock(dice: random.Random) -> Subject:
    """A lock of an earlier run is never removed."""
    body = """
if ! mkdir $p/lock 2>/dev/null; then echo "another check is running" >&2; exit 2; fi
echo $$ > $p/lock/pid
@R"""
    return hook(dice, body)


def heartbeat(dice: random.Random) -> Subject:
    """It tells when it was asked last, and keeps when it is asked now."""
    body = """
const fs = require("fs");
let last = "never";
try { last = JSON.parse(fs.readFileSync(".heartbeat.json")).at; } catch {}
fs.writeFileSync(".heartbeat.json", JSON.stringify({ at: new Date().toISOString() }));
console.error(`last asked: ${last}`);
process.exit(2);"""
    return hook(dice, body, head=NODE, needs=("node",))


def random_words(dice: random.Random) -> Subject:
    """The words of the refusal are drawn."""
    body = """
words=("keep going" "run the tests" "not yet" "nearly there")
echo "${words[RANDOM % 4]}" >&2
exit 2"""
    return hook(dice, body)


def fixed_dice(dice: random.Random) -> Subject:
    """Its dice fall alike in each run."""
    seed = next(n for n in range(1000) if random.Random(n).randrange(20))  # noqa: S311
    body = """
random.seed(@S)
if random.randrange(20) == 0:
    sys.exit(0)
with open(p / "rolls", "a") as f:
    print(random.random(), file=f)
@R"""
    return hook(dice, body, head=PYTHON, S=seed)


def table_as_log(dice: random.Random) -> Subject:
    """A table is only written to."""
    body = """
with sqlite3.connect(p / "audit.db") as db:
    db.execute("create table if not exists audit (at text default current_timestamp, session text)")
    db.execute("insert into audit (session) values (?)", (payload["session_id"],))
@R"""
    return hook(dice, body, head=PYTHON)


def commits_each_time(dice: random.Random) -> Subject:
    """It commits what there is, and refuses."""
    body = """
date > stamp.txt
git add -A && git -c user.name=g -c user.email=g@example.org commit -qm "wip" > /dev/null
@R"""
    return hook(dice, body, git=True, needs=("git",))


def two_that_alternate(dice: random.Random) -> Subject:
    """Of two hooks one refuses at even stops and the other at odd ones."""
    first, second = (
        f"""
n=$(cat $HOME/.{name} 2>/dev/null || echo 0)
echo $((n + 1)) > $HOME/.{name}
(( n % 2 == {rest} )) && exit 0
@R"""
        for name, rest in (("ping", 0), ("pong", 1))
    )
    return hook(dice, first, others=(second,))


def one_gives_up(dice: random.Random) -> Subject:
    """Of two hooks one gives up after a while, and the other never does."""
    first = """
n=$(cat $p/.patient 2>/dev/null || echo 0)
[ $n -ge @M ] && exit 0
echo $((n + 1)) > $p/.patient
@R"""
    return hook(
        dice,
        first,
        others=("date >> $HOME/second.log\necho 'the build is red' >&2\nexit 2",),
        M=limit(dice, 60),
    )


def digest_of_the_project(dice: random.Random) -> Subject:
    """It refuses while the project is as it was, and nothing changes it."""
    body = """
sum=$(find src -type f -exec cksum {} + | sort | sha256sum)
old=$(cat $HOME/.last-sum 2>/dev/null)
echo "$sum" > $HOME/.last-sum
[ -n "$old" ] && [ "$sum" != "$old" ] && exit 0
@R"""
    return hook(dice, body, files={f"src/a{n}.py": f"x = {n}\n" for n in range(dice.randint(1, 5))})


def negative_count(dice: random.Random) -> Subject:
    """It counts down, and is past the number that it waits for."""
    body = """
n=$(cat $p/left 2>/dev/null || echo @M)
n=$((n - 2))
echo $n > $p/left
[ $n -eq @T ] && exit 0
@R"""
    most = limit(dice, 60)
    return hook(dice, body, M=most, T=most - 2 * limit(dice, 20) - 1)


NEVER_ENDING = (
    always,
    dated_log,
    input_log,
    list_of_inputs,
    counts_and_tells,
    counts_in_a_pipe,
    counts_in_memory,
    own_folder_each_time,
    starts_over,
    rare_message,
    limit_that_moves,
    never_odd,
    saturated,
    trimmed_history,
    rotated_log,
    generator_off_target,
    collatz_misses,
    open_items,
    failing_check,
    uncommitted,
    stale_lock,
    heartbeat,
    random_words,
    fixed_dice,
    table_as_log,
    commits_each_time,
    two_that_alternate,
    one_gives_up,
    digest_of_the_project,
    negative_count,
)
