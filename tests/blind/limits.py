"""Scripts whose limit is not written as a number: it is calculated, kept elsewhere, or never met as such."""

from __future__ import annotations

import hashlib
import random

from .subject import PYTHON, SH, Subject, hook, limit


def product(dice: random.Random) -> Subject:
    """The limit is a product or a shift that the shell calculates."""
    a, b = dice.randint(2, 12), dice.randint(2, 12)
    text, most = dice.choice(((f"{a} * {b}", a * b), (f"{a} << 3", a << 3), (f"{a} * {b} + 3", a * b + 3)))
    body = """
n=$(cat $p/.n 2>/dev/null || echo 0)
(( n == @E )) && exit 0
echo $((n + 1)) > $p/.n
@R"""
    return hook(dice, body, most, E=text)


def another_base(dice: random.Random) -> Subject:
    """The limit is written in base 16, 8, 36 or 2."""
    most = limit(dice)
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    base = dice.choice((2, 3, 16, 36))
    text, rest = "", most
    while rest:
        text, rest = digits[rest % base] + text, rest // base
    body = """
declare -i n=0 max=@B#@T
[[ -f $p/n ]] && n=$(< $p/n)
if [[ $n -eq $max ]]; then exit 0; fi
echo $((n + 1)) > $p/n
@R"""
    return hook(dice, body, most, B=base, T=text)


def settings_of_the_package(dice: random.Random) -> Subject:
    """The limit is one of many numbers in package.json."""
    most = limit(dice)
    numbers = ",\n".join(
        f'    "lib-{n}": "^{dice.randrange(30)}.{dice.randrange(90)}.{n}"' for n in range(60)
    )
    body = """
max=$(jq -r '.gate.patience' package.json)
n=$(cat $p/.blocks 2>/dev/null); n=${n:-0}
[ "$n" = "$max" ] && exit 0
echo $((n + 1)) > $p/.blocks
@R"""
    package = f'{{\n  "dependencies": {{\n{numbers}\n  }},\n  "gate": {{"patience": {most}}}\n}}\n'
    return hook(dice, body, most, files={"package.json": package}, needs=("jq",))


def settings_in_a_long_file(dice: random.Random) -> Subject:
    """The limit stands far behind in a long file of settings."""
    most = limit(dice)
    filler = "".join(f"option_{n}: {dice.randrange(10**5)}\n" for n in range(dice.choice((300, 900))))
    body = """
max=$(sed -n 's/^max_blocks: //p' gate.yml)
n=0; [ -f $p/gate.n ] && n=$(cat $p/gate.n)
[ $n -eq $max ] && exit 0
echo $((n + 1)) > $p/gate.n
@R"""
    return hook(dice, body, most, head=SH, files={"gate.yml": f"{filler}max_blocks: {most}\n"})


def settings_in_a_library(dice: random.Random) -> Subject:
    """The limit comes from a library of shell functions, where it is a sum."""
    a, b = limit(dice, 70), limit(dice, 70)
    body = """
. ./lib/gate.sh
n=$(tries)
exhausted "$n" && exit 0
remember $((n + 1))
@R"""
    library = f"""\
EXTRA={b}
tries() {{ cat "$HOME/.gate_tries" 2>/dev/null || echo 0; }}
remember() {{ echo "$1" > "$HOME/.gate_tries"; }}
exhausted() {{ [ "$1" -eq $((EXTRA + {a})) ]; }}
"""
    return hook(dice, body, a + b, files={"lib/gate.sh": library})


def first_run_sets_it_up(dice: random.Random) -> Subject:
    """The first hook run writes the settings into HOME, and the limit in words of another program."""
    most = limit(dice)
    body = """
c=$HOME/.config/gate/config
[ -f $c ] || { mkdir -p $(dirname $c); git config -f $c gate.max $(printf %d @H); git config -f $c gate.n 0; }
n=$(git config -f $c gate.n)
[ "$n" = "$(git config -f $c gate.max)" ] && exit 0
git config -f $c gate.n $((n + 1))
@R"""
    return hook(dice, body, most, H=hex(most), needs=("git",))


def length_of_a_word(dice: random.Random) -> Subject:
    """The limit is the length of a text."""
    word = "".join(dice.choice("abcdefgh ") for _ in range(limit(dice, 110))).replace(" ", "-")
    body = """
banner='@W'
n=$(wc -c < $p/dots 2>/dev/null || echo 0)
[ "$n" -eq "${#banner}" ] && exit 0
printf . >> $p/dots
@R"""
    return hook(dice, body, len(word), W=word)


def number_of_files(dice: random.Random) -> Subject:
    """As many refusals as the project has source files."""
    most = limit(dice, 40)
    files = {f"src/module_{n}.py": f"VALUE = {n}\n" for n in range(most)}
    body = """
n=$(cat $p/.passes 2>/dev/null || echo 0)
[ $n -lt $(find src -name '*.py' | wc -l) ] || exit 0
echo $((n + 1)) > $p/.passes
@R"""
    return hook(dice, body, most, files=files)


def number_words(dice: random.Random) -> Subject:
    """The limit is a number that is spelled out."""
    words = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    tens = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
    unit, ten = dice.randrange(9), dice.randrange(8)
    body = f"""
UNITS = "{" ".join(words)}".split()
TENS = "{" ".join(tens)}".split()
ten, _, unit = "@T".partition("-")
most = 10 * (TENS.index(ten) + 2) + UNITS.index(unit) + 1
state = p / "gate.json"
n = json.loads(state.read_text())["n"] if state.exists() else 0
if n == most:
    sys.exit(0)
state.write_text(json.dumps({{"n": n + 1}}))
@R"""
    return hook(dice, body, 10 * (ten + 2) + unit + 1, head=PYTHON, T=f"{tens[ten]}-{words[unit]}")


def chain_of_digests(dice: random.Random) -> Subject:
    """Each refusal hashes the hash; one of the hashes is the last."""
    most, salt = limit(dice), f"salt-{dice.randrange(10**6)}"
    digest = hashlib.sha256(f"{salt}\n".encode()).hexdigest()
    for _ in range(most):
        digest = hashlib.sha256(f"{digest}\n".encode()).hexdigest()
    body = """
h=$(cat $p/.token 2>/dev/null) || h=$(echo @S | sha256sum | cut -d' ' -f1)
case $h in @D*) exit 0;; esac
echo "$h" | sha256sum | cut -d' ' -f1 > $p/.token
@R"""
    return hook(dice, body, most, head=SH, S=salt, D=digest[:16])


def lucky_digest(dice: random.Random) -> Subject:
    """The stop is allowed at the first count whose digest begins as it should."""
    salt = dice.randrange(10**6)
    first = next(n for n in range(5000) if hashlib.md5(f"{salt}-{n}".encode()).hexdigest().startswith("07"))  # noqa: S324
    while first > 150:
        salt += 1
        first = next(
            n
            for n in range(5000)
            if hashlib.md5(f"{salt}-{n}".encode()).hexdigest().startswith("07")  # noqa: S324
        )
    body = """
f = p / "tries"
n = int(f.read_text()) if f.exists() else 0
if hashlib.md5(f"@S-{n}".encode()).hexdigest()[:2] == "07":
    raise SystemExit
f.write_text(f"{n + 1}\\n")
@R"""
    return hook(dice, body, first, head=PYTHON, S=salt)


def generator_of_numbers(dice: random.Random) -> Subject:
    """A congruential generator, which allows the stop at one of its values."""
    most, value, a = limit(dice), dice.randrange(9973), dice.choice((5, 17, 48))
    seen = [value]
    while (following := (seen[-1] * a + 11) % 9973) not in seen and len(seen) <= most:
        seen.append(following)
    most = len(seen) - 1
    body = """
x=$(cat $p/x 2>/dev/null || echo @S)
[ $x = @T ] && exit 0
echo $(( (x * @A + 11) % 9973 )) > $p/x
@R"""
    return hook(dice, body, most, S=value, A=a, T=seen[-1])


def collatz(dice: random.Random) -> Subject:
    """Halve or triple and add one, until it is one."""
    start = dice.choice((6, 7, 9, 25, 27, 31, 54, 97))
    steps, x = 0, start
    while x != 1:
        x, steps = (3 * x + 1 if x % 2 else x // 2), steps + 1
    body = """
read -r x 2>/dev/null < $p/x || x=@S
(( x == 1 )) && exit 0
(( x % 2 ? (x = 3 * x + 1) : (x /= 2) ))
echo $x > $p/x
@R"""
    return hook(dice, body, steps, S=start)


def fibonacci(dice: random.Random) -> Subject:
    """Two numbers that grow like rabbits, and a bound."""
    most = limit(dice, 60)
    a, b = 0, 1
    for _ in range(most):
        a, b = b, a + b
    body = """
set -- $(cat $p/fib 2>/dev/null || echo 0 1)
[ $1 -ge @B ] && exit 0
echo $2 $(($1 + $2)) > $p/fib
@R"""
    return hook(dice, body, most if most != 2 else 1, B=a)


def bubble_sort(dice: random.Random) -> Subject:
    """One exchange of neighbours at each refusal, until the list is in order."""
    items = dice.sample(range(100, 999), dice.randint(3, 16))
    swaps = sum(a > b for i, a in enumerate(items) for b in items[i + 1 :])
    body = """
f = p / "order.json"
items = json.loads(f.read_text()) if f.exists() else @I
for i in range(len(items) - 1):
    if items[i] > items[i + 1]:
        items[i], items[i + 1] = items[i + 1], items[i]
        break
else:
    sys.exit()
f.write_text(json.dumps(items))
@R"""
    return hook(dice, body, swaps, head=PYTHON, I=items)


def turning_word(dice: random.Random) -> Subject:
    """A word whose first letter moves to its end, until another letter leads."""
    letters = "".join(dice.sample("abcdefghijklmnopqrstuvwxyz", dice.randint(2, 26)))
    place = dice.randint(1, len(letters) - 1)
    body = """
w=$(cat $p/wheel 2>/dev/null || echo @W)
case $w in @C*) exit 0;; esac
echo "${w:1}${w:0:1}" > $p/wheel
@R"""
    return hook(dice, body, place, W=letters, C=letters[place])


def day_by_day(dice: random.Random) -> Subject:
    """A date that is moved by a day at each refusal, until a month is over."""
    most = limit(dice, 28) + 3
    body = """
d=$(cat $p/due 2>/dev/null || date -d '2024-03-01 - @L days' +%F)
[[ $d == 2024-03-01 ]] && exit 0
date -d "$d + 1 day" +%F > $p/due
@R"""
    return hook(dice, body, most)


def next_version(dice: random.Random) -> Subject:
    """A version whose last number grows, until the minor one does."""
    most = limit(dice, 99)
    body = """
v=$(cat $p/VERSION 2>/dev/null || echo 1.4.@S)
IFS=. read -r major minor patch <<< "$v"
[ $minor -gt 4 ] && exit 0
patch=$((patch + 1))
(( patch == 100 )) && { minor=$((minor + 1)); patch=0; }
echo $major.$minor.$patch > $p/VERSION
@R"""
    return hook(dice, body, most, S=100 - most)


def two_rings(dice: random.Random) -> Subject:
    """Two counters that start again, and must stand at zero together."""
    a, b = dice.choice(((3, 4), (5, 7), (4, 9), (8, 15), (11, 13), (2, 9)))
    body = """
n=$(( $(cat $p/a 2>/dev/null || echo 1) )); m=$(( $(cat $p/b 2>/dev/null || echo 1) ))
[ $n$m = 00 ] && exit 0
echo $(( (n + 1) % @A )) > $p/a
echo $(( (m + 1) % @B )) > $p/b
@R"""
    return hook(dice, body, a * b - 1, A=a, B=b)


def growing_score(dice: random.Random) -> Subject:
    """A score that grows by another amount each time."""
    most, a, b = limit(dice), dice.randint(2, 9), dice.randint(3, 11)
    score = sum((n * n * a) % b + 1 for n in range(most))
    body = """
f = p / ".score"
n, score = map(int, f.read_text().split()) if f.exists() else (0, 0)
if score >= @T:
    sys.exit(0)
f.write_text(f"{n + 1} {score + (n * n * @A) % @B + 1}")
@R"""
    return hook(dice, body, most, head=PYTHON, T=score, A=a, B=b)


def fading_patience(dice: random.Random) -> Subject:
    """Patience that fades by a tenth each time."""
    most, left, steps = limit(dice, 120), 1.0, 0
    for _ in range(most):
        left *= 0.9
    bound, left = left * 1.0001, 1.0
    while left > bound:
        left, steps = left * 0.9, steps + 1
    body = """
f = p / "patience.json"
left = json.loads(f.read_text()) if f.exists() else 1.0
if left <= @B:
    sys.exit(0)
f.write_text(json.dumps(left * 0.9))
@R"""
    return hook(dice, body, steps, head=PYTHON, B=repr(bound))


LIMITS = (
    product,
    another_base,
    settings_of_the_package,
    settings_in_a_long_file,
    settings_in_a_library,
    first_run_sets_it_up,
    length_of_a_word,
    number_of_files,
    number_words,
    chain_of_digests,
    lucky_digest,
    generator_of_numbers,
    collatz,
    fibonacci,
    bubble_sort,
    turning_word,
    day_by_day,
    next_version,
    two_rings,
    growing_score,
    fading_patience,
)
