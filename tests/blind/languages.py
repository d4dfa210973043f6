"""Counts in Python, Perl, awk, Node, SQLite and git."""

from __future__ import annotations

import random

from .subject import PYTHON, SH, Subject, hook, limit

PERL, NODE = "#!/usr/bin/perl\nuse strict; use warnings;", "#!/usr/bin/env node"


def sessions_in_json(dice: random.Random) -> Subject:
    """One file for all sessions, in which old ones are cleared away."""
    most = limit(dice)
    body = """
f = p / "sessions.json"
try:
    known = json.loads(f.read_text())
except (OSError, ValueError):
    known = {}
mine = known.setdefault(payload["session_id"], {"blocks": 0, "since": time.time()})
known = {key: one for key, one in known.items() if time.time() - one["since"] < 86400}
if mine["blocks"] >= @L:
    del known[payload["session_id"]]
    f.write_text(json.dumps(known, indent=1))
    sys.exit(0)
mine["blocks"] += 1
f.write_text(json.dumps(known, indent=1))
@R"""
    return hook(dice, body, most, head=PYTHON)


def rows_of_a_table(dice: random.Random) -> Subject:
    """A table with a row for each refusal."""
    most = limit(dice)
    body = """
db = sqlite3.connect(p / "gate.db")
db.execute("create table if not exists refusal (id integer primary key, at real, why text)")
(n,) = db.execute("select count(*) from refusal").fetchone()
if n @O @L:
    sys.exit(0)
db.execute("insert into refusal (at, why) values (?, ?)", (time.time(), "tests"))
db.commit()
@R"""
    return hook(dice, body, most, head=PYTHON, O=dice.choice((">=", "==")))


def attribute_of_a_file(dice: random.Random) -> Subject:
    """An extended attribute of a file."""
    most = limit(dice)
    body = """
f = p / "marked"
f.touch()
try:
    n = int(os.getxattr(f, "user.refusals"))
except OSError:
    n = 0
if n >= @L:
    f.unlink()
    sys.exit(0)
os.setxattr(f, "user.refusals", str(n + 1).encode())
@R"""
    return hook(dice, body, most, head=PYTHON)


def ring_of_times(dice: random.Random) -> Subject:
    """The times of the last refusals; too many within an hour allow the stop."""
    most = limit(dice)
    body = """
f = p / "times"
now = time.time()
times = [float(line) for line in f.read_text().split()] if f.exists() else []
times = [one for one in times if now - one < 3600]
if len(times) >= @L:
    sys.exit(0)
f.write_text("\\n".join(map(str, [*times, now])))
@R"""
    return hook(dice, body, most, head=PYTHON)


def spreadsheet_letters(dice: random.Random) -> Subject:
    """Perl counts in letters: a, b, ..., z, aa, ab."""
    most = limit(dice)
    word, rest = "", most + 1
    while rest:
        word, rest = chr(97 + (rest - 1) % 26) + word, (rest - 1) // 26
    body = """
my $f = "$ENV{HOME}/.column";
my $s = "a";
if (open my $in, "<", $f) { chomp($s = <$in>) }
exit 0 if $s eq "@W";
$s++;
open my $out, ">", $f or die; print $out "$s\\n"; close $out;
print STDERR "not before the tests pass\\n"; exit 2;"""
    return hook(dice, body, most, head=PERL, W=word)


def perl_keeps_hex(dice: random.Random) -> Subject:
    """Perl keeps the count in hexadecimal, in a line among others."""
    most = limit(dice)
    body = """
my $f = ".gate.ini";
my @lines = ("[gate]\\n", "colour = 0xff8800\\n", "tries = 0x0\\n");
if (open my $in, "<", $f) { @lines = <$in> }
for (@lines) {
    next unless /^tries = 0x(\\w+)/;
    my $n = hex $1;
    exit 0 if $n >= @L;
    $_ = sprintf "tries = 0x%x\\n", $n + 1;
}
open my $out, ">", $f; print $out @lines; close $out;
print qq({"decision": "block", "reason": "fix it"}\\n);"""
    return hook(dice, body, most, head=PERL)


def awk_counts(dice: random.Random) -> Subject:
    """Awk adds up a column of a log."""
    most, cost = limit(dice), dice.randint(2, 9)
    body = """
log=.gate.tsv
[ -f $log ] || printf 'when\\tcost\\n' > $log
awk -F'\\t' 'NR > 1 { sum += $2 } END { exit !(sum >= @T) }' $log && exit 0
printf '%s\\t%s\\n' "$(date +%s)" @C >> $log
echo "budget left" >&2; exit 2"""
    return hook(dice, body, most, head=SH, C=cost, T=cost * most)


def awk_fractions(dice: random.Random) -> Subject:
    """Awk adds tenths until a bound is passed."""
    most = limit(dice, 120)
    body = """
x=$(cat $p/weight 2>/dev/null || echo 0)
awk "BEGIN { exit !($x > @B) }" && exit 0
awk "BEGIN { printf \\"%.2f\\", $x + 0.05 }" > $p/weight
@R"""
    return hook(dice, body, most, head=SH, B=f"{most * 0.05 - 0.025:.3f}")


def node_keeps_json(dice: random.Random) -> Subject:
    """Node keeps an object of counts by session."""
    most = limit(dice)
    body = """
const fs = require("fs"), path = require("path"), os = require("os");
const input = JSON.parse(fs.readFileSync(0, "utf8"));
const file = path.join(os.homedir(), ".gate", "state.json");
let state = {};
const save = () => fs.writeFileSync(file, JSON.stringify(state));
try { state = JSON.parse(fs.readFileSync(file, "utf8")); } catch {}
const key = input.session_id;
const mine = state[key] ?? { attempts: 0, last: null };
if (mine.attempts >= @L) { delete state[key]; save(); process.exit(0); }
state[key] = { attempts: mine.attempts + 1, last: new Date().toISOString() };
fs.mkdirSync(path.dirname(file), { recursive: true });
save();
console.log(JSON.stringify({ decision: "block", reason: "Keep going" }));"""
    return hook(dice, body, most, head=NODE, needs=("node",))


def sqlite_shell(dice: random.Random) -> Subject:
    """The shell of SQLite updates a row."""
    most = limit(dice, 100)
    body = """
db=$p/gate.sqlite
sqlite3 $db 'create table if not exists kv (k text primary key, v integer)'
n=$(sqlite3 $db "select v from kv where k = 'n'")
[ "${n:-0}" -ge @L ] && exit 0
sqlite3 $db "insert or replace into kv values ('n', ${n:-0} + 1)"
@R"""
    return hook(dice, body, most, needs=("sqlite3",))


def tags(dice: random.Random) -> Subject:
    """A tag in the repository for each refusal."""
    most = limit(dice, 60)
    body = """
n=$(git tag -l 'gate-*' | wc -l)
if [ $n -ge @L ]; then git tag -l 'gate-*' | xargs git tag -d > /dev/null; exit 0; fi
git tag gate-$n
@R"""
    return hook(dice, body, most, git=True, needs=("git",))


def references(dice: random.Random) -> Subject:
    """A reference that points at a blob with the count."""
    most = limit(dice, 80)
    body = """
n=$(git cat-file -p refs/gate/n 2>/dev/null || echo 0)
[ "$n" -eq @L ] && { git update-ref -d refs/gate/n; exit 0; }
git update-ref refs/gate/n $(echo $((n + 1)) | git hash-object -w --stdin)
@R"""
    return hook(dice, body, most, git=True, needs=("git",))


def settings_of_git(dice: random.Random) -> Subject:
    """A value in the configuration of the repository."""
    most = limit(dice, 90)
    body = """
n=$(git config --local gate.refusals || echo 0)
[ "$n" -lt @L ] || { git config --local --unset gate.refusals; exit 0; }
git config --local gate.refusals $((n + 1))
@R"""
    return hook(dice, body, most, git=True, needs=("git",))


def empty_commits(dice: random.Random) -> Subject:
    """An empty commit for each refusal."""
    most = limit(dice, 40)
    body = """
n=$(git log --format=%s | grep -c '^checkpoint')
[ $n -ge @L ] && exit 0
git -c user.name=g -c user.email=g@example.org commit -q --allow-empty -m "checkpoint $((n + 1))"
@R"""
    return hook(dice, body, most, git=True, needs=("git",))


LANGUAGES = (
    sessions_in_json,
    rows_of_a_table,
    attribute_of_a_file,
    ring_of_times,
    spreadsheet_letters,
    perl_keeps_hex,
    awk_counts,
    awk_fractions,
    node_keeps_json,
    sqlite_shell,
    tags,
    references,
    settings_of_git,
    empty_commits,
)
