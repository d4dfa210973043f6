"""Hooks that are decided by what the host tells, by chance, by the clock, by a prompt, or by each other."""

from __future__ import annotations

import random

from .subject import PYTHON, SH, Subject, Truth, hook, limit


def asks_the_flag(dice: random.Random) -> Subject:
    """It refuses once: the host says that a stop hook is active."""
    body = """
input=$(cat)
case $input in *'"stop_hook_active":true'*|*'"stop_hook_active": true'*) exit 0;; esac
@R"""
    return hook(dice, body, 1, head=SH)


def misreads_the_flag(dice: random.Random) -> Subject:
    """It wants the flag as a text, which it never is."""
    body = """
if payload.get("stop_hook_active") == "true":
    sys.exit(0)
@R"""
    return hook(dice, body, head=PYTHON)


def flag_upside_down(dice: random.Random) -> Subject:
    """It refuses only while the host says that a stop hook is active."""
    body = """
if not payload["stop_hook_active"]:
    sys.exit(0)
@R"""
    return hook(dice, body, 0, head=PYTHON)


def counts_while_active(dice: random.Random) -> Subject:
    """It counts only the stops at which the host says that a stop hook is active."""
    most = limit(dice, 100)
    body = """
active=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["stop_hook_active"])')
n=$(cat $p/active 2>/dev/null || echo 0)
if [ "$active" = True ]; then
  [ $n -eq @M ] && exit 0
  echo $((n + 1)) > $p/active
fi
@R"""
    return hook(dice, body, most + 1, M=most)


def prompt_sets_it_up(dice: random.Random) -> Subject:
    """The prompt writes how often the stop is refused."""
    most = limit(dice, 100)
    body = """
n=$(cat "$CLAUDE_PROJECT_DIR/.budget")
[ "$n" -gt 0 ] || exit 0
echo $((n - 1)) > "$CLAUDE_PROJECT_DIR/.budget"
@R"""
    return hook(dice, body, most, prompt='echo @L > "$CLAUDE_PROJECT_DIR/.budget"\nexit 0')


def prompt_starts_over(dice: random.Random) -> Subject:
    """The prompt takes away the count of the stops."""
    most = limit(dice)
    body = """
printf x >> "$HOME/.gate-strikes"
[ $(wc -c < "$HOME/.gate-strikes") -gt @L ] && exit 0
@R"""
    return hook(dice, body, most, prompt='rm -f "$HOME/.gate-strikes"\necho "be thorough"\nexit 0')


def lines_of_the_transcript(dice: random.Random) -> Subject:
    """It lets the agent stop when the transcript is long."""
    body = """
lines = pathlib.Path(payload["transcript_path"]).read_text().splitlines()
if len(lines) >= @M:
    sys.exit(0)
@R"""
    return hook(dice, body, head=PYTHON, truth=Truth.ENDS, M=limit(dice, 90, 4))


def size_of_the_transcript(dice: random.Random) -> Subject:
    """It lets the agent stop when the transcript is large."""
    body = """
t=$(grep -o '"transcript_path": *"[^"]*"' | cut -d'"' -f4)
[ $(stat -c %s "$t") -gt @M ] && exit 0
@R"""
    return hook(dice, body, truth=Truth.ENDS, M=dice.choice((4000, 7777, 12000)))


def last_line_of_the_transcript(dice: random.Random) -> Subject:
    """It waits for a word that nobody says."""
    body = """
last = pathlib.Path(payload["transcript_path"]).read_text().splitlines()[-1]
if "ALL-TESTS-PASS" in last or "ALL-TESTS-PASS" in payload.get("last_assistant_message", ""):
    sys.exit(0)
@R"""
    return hook(dice, body, head=PYTHON)


def both_must_agree(dice: random.Random) -> Subject:
    """Two hooks have limits of their own."""
    a, b = limit(dice, 100), limit(dice, 100)
    one, two = (
        f"""
n=$(cat $HOME/.{name} 2>/dev/null || echo 0)
[ $n -ge {most} ] && exit 0
echo $((n + 1)) > $HOME/.{name}
@R"""
        for name, most in (("lint-gate", a), ("test-gate", b))
    )
    return hook(dice, one, max(a, b), others=(two,))


def three_rings(dice: random.Random) -> Subject:
    """Of three hooks each allows each so manieth stop; they must meet."""
    rings = dice.choice(((2, 3, 5), (3, 4, 7), (2, 5, 9), (4, 5, 6)))
    bodies = [
        f"""
n=$(( $(cat $HOME/.ring-{ring} 2>/dev/null || echo 0) + 1 ))
echo $n > $HOME/.ring-{ring}
(( n % {ring} == 0 )) && exit 0
@R"""
        for ring in rings
    ]
    after = next(n for n in range(1, 999) if not any(n % ring for ring in rings)) - 1
    return hook(dice, bodies[0], after, others=tuple(bodies[1:]))


def either_is_enough(dice: random.Random) -> Subject:
    """A count that never gets there, or the lines of a log."""
    most = limit(dice)
    body = """
log, mark = p / "g.log", p / "mark"
n = int(mark.read_text()) if mark.exists() else 0
lines = log.read_text().count("\\n") if log.exists() else 0
if n == 7 or lines >= @L:
    sys.exit(0)
mark.write_text(str((n + 2) % 10))
with log.open("a") as f:
    print(time.strftime("%F %T"), os.getpid(), "refused", file=f)
@R"""
    return hook(dice, body, most, head=PYTHON)


def count_of_the_day(dice: random.Random) -> Subject:
    """The count belongs to the day and is gone tomorrow."""
    most = limit(dice)
    body = """
f=$p/$(date +%F).count
n=$(cat $f 2>/dev/null || echo 0)
[ $n -ge @L ] && exit 0
rm -f $p/????-??-??.count
echo $((n + 1)) > $f
@R"""
    return hook(dice, body, most)


def bad_octal(dice: random.Random) -> Subject:
    """Leading zeros make the count an octal number; 008 is none, so it starts again."""
    body = """
n=$(cat $p/n 2>/dev/null || echo 000)
next=$((n + 1))
printf '%03d\\n' $next > $p/n
@R"""
    return hook(dice, body)


def redirect_for_comparison(dice: random.Random) -> Subject:
    """A comparison that writes a file, and always holds."""
    body = """
n=$(cat $p/n 2>/dev/null || echo 0)
[ $n > @M ] && exit 0
echo $((n + 1)) > $p/n
@R"""
    return hook(dice, body, 0, M=limit(dice, 20))


def named_exceptions(dice: random.Random) -> Subject:
    """It refuses at listed attempts only."""
    listed = [0, *sorted(dice.sample(range(1, 40), dice.randint(2, 20)))]
    after = next(n for n in range(50) if n not in listed)
    body = """
n=$(cat $p/n 2>/dev/null || echo 0)
echo $((n + 1)) > $p/n
case $n in @C) ;; *) exit 0;; esac
@R"""
    return hook(dice, body, after, C="|".join(map(str, listed)))


def shell_dice(dice: random.Random) -> Subject:
    """The shell rolls dice."""
    return hook(dice, "(( RANDOM % @K == 0 )) && exit 0\n@R", truth=Truth.CHANCE, K=dice.choice((2, 6, 20)))


def other_dice(dice: random.Random) -> Subject:
    """Other programs roll dice."""
    roll = dice.choice(
        (
            "[ $(od -An -N1 -tu1 /dev/urandom) -lt 16 ]",
            "[ $(shuf -i 1-12 -n 1) -eq 7 ]",
            "awk 'BEGIN { srand(); exit !(rand() < 0.1) }'",
            "python3 -c 'import random, sys; sys.exit(random.random() > 0.1)'",
            "case $(cat /proc/sys/kernel/random/uuid) in 0*) true;; *) false;; esac",
            "case $(mktemp -u XXXXXX) in [A-D]*) true;; *) false;; esac",
        )
    )
    return hook(dice, "@D && exit 0\n@R", truth=Truth.CHANCE, D=roll)


def dice_and_count(dice: random.Random) -> Subject:
    """Each refusal adds what the dice show; there is a bound."""
    body = """
f = p / "luck"
total = float(f.read_text()) if f.exists() else 0
if total > @M:
    sys.exit(0)
f.write_text(str(total + random.random()))
@R"""
    return hook(dice, body, head=PYTHON, truth=Truth.CHANCE, M=limit(dice, 60))


def process_number(dice: random.Random) -> Subject:
    """The number of the process decides."""
    return hook(dice, "[ $(( $$ % 13 )) -eq 5 ] && exit 0\n@R", truth=Truth.CHANCE)


def patience_in_seconds(dice: random.Random) -> Subject:
    """It gives up some time after its first refusal."""
    body = """
now=$(date +%s)
since=$(cat $p/since 2>/dev/null || echo $now)
(( now - since >= @S )) && exit 0
echo $since > $p/since
@R"""
    return hook(dice, body, truth=Truth.TIME, S=dice.choice((900, 3600, 86400)))


def nightly_window(dice: random.Random) -> Subject:
    """It allows stops within one hour of the day, or one of the week."""
    test = dice.choice(("$(date +%H) = @H", '"$(date +%a%H)" = @D@H', "$(date +%d%H) = 1@E@H"))
    words = {
        "H": f"{dice.choice((3, 4, 5)):02}",
        "D": dice.choice(("Sun", "Sat", "Wed")),
        "E": dice.randrange(9),
    }
    for word, value in words.items():
        test = test.replace(f"@{word}", str(value))
    return hook(dice, f"[ {test} ] && exit 0\n@R", truth=Truth.TIME)


def age_of_a_file(dice: random.Random) -> Subject:
    """It allows stops once its mark is old enough."""
    body = """
mark = p / "mark"
if not mark.exists():
    mark.touch()
if time.time() - mark.stat().st_mtime > @S:
    sys.exit(0)
@R"""
    return hook(dice, body, head=PYTHON, truth=Truth.TIME, S=dice.choice((600, 7200)))


WORLD = (
    asks_the_flag,
    misreads_the_flag,
    flag_upside_down,
    counts_while_active,
    prompt_sets_it_up,
    prompt_starts_over,
    lines_of_the_transcript,
    size_of_the_transcript,
    last_line_of_the_transcript,
    both_must_agree,
    three_rings,
    either_is_enough,
    count_of_the_day,
    bad_octal,
    redirect_for_comparison,
    named_exceptions,
    shell_dice,
    other_dice,
    dice_and_count,
    process_number,
    patience_in_seconds,
    nightly_window,
    age_of_a_file,
)
