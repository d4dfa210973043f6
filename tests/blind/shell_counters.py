"""Shell scripts that count their refusals in every kind of place, and allow the stop at a limit."""

from __future__ import annotations

import random

from .subject import SH, Subject, hook, limit


def number_in_a_file(dice: random.Random) -> Subject:
    """A number in a file, at least the limit."""
    most = limit(dice)
    body = """
n=$(cat $p/count 2>/dev/null || echo 0)
[ "$n" -ge @L ] && exit 0
echo $((n + 1)) > $p/count
@R"""
    return hook(dice, body, most)


def number_that_must_be_met(dice: random.Random) -> Subject:
    """A number in a file that must equal the limit; it is written by printf with leading zeros."""
    most = limit(dice)
    body = """
n=000
[ -r $p/seen.txt ] && read -r n < $p/seen.txt
n=$((10#$n))
if [[ $n == @L ]]; then rm -f $p/seen.txt; exit 0; fi
printf '%03d\\n' $((n + 1)) > $p/seen.txt
@R"""
    return hook(dice, body, most)


def size_of_a_file(dice: random.Random) -> Subject:
    """One more character at each refusal; the size of the file is the count."""
    step, most = dice.choice((1, 3, 7, 64)), limit(dice)
    body = """
[ -f $p/strikes ] && [ $(stat -c %s $p/strikes) -ge @B ] && exit 0
printf '%*s' @S x >> $p/strikes
@R"""
    return hook(dice, body, most, S=step, B=step * most)


def lines_of_a_log(dice: random.Random) -> Subject:
    """A log with the time, and grep -c over it."""
    most = limit(dice)
    body = """
log=$p/stop.log
touch $log
tries=$(grep -c BLOCKED $log)
if (( tries > @L )); then echo "$(date -Is) GAVE UP" >> $log; exit 0; fi
echo "$(date -Is) BLOCKED by $0" >> $log
@R"""
    return hook(dice, body, most, L=most - 1)


def numbered_files(dice: random.Random) -> Subject:
    """A folder with one more entry at each refusal."""
    most = limit(dice)
    kind = dice.choice(("touch", "mkdir"))
    body = """
mkdir -p $p/attempts
set -- $p/attempts/*
[ -e "$1" ] || set --
[ $# -ge @L ] && exit 0
@K $p/attempts/$(($# + 1))
@R"""
    return hook(dice, body, most, K=kind)


def random_names(dice: random.Random) -> Subject:
    """A folder with one more file of a random name at each refusal."""
    most = limit(dice)
    body = """
mkdir -p $p/marks
if [ "$(ls $p/marks | wc -l)" -eq @L ]; then rm -r $p/marks; exit 0; fi
mktemp $p/marks/XXXXXXXX > /dev/null
@R"""
    return hook(dice, body, most)


def target_of_a_link(dice: random.Random) -> Subject:
    """A dangling symbolic link whose target is the count."""
    most = limit(dice)
    body = """
n=$(readlink $p/.tries) || n=0
case $n in @L) rm $p/.tries; exit 0;; esac
ln -sfn $((n + 1)) $p/.tries
@R"""
    return hook(dice, body, most, head=SH)


def mode_of_a_file(dice: random.Random) -> Subject:
    """The permission bits of a file are the count, in octal."""
    most = limit(dice)
    body = """
f=$p/gate.flag
[ -e $f ] || { : > $f; chmod 0 $f; }
n=$((0$(stat -c %a $f)))
[ $n -ge @L ] && { rm -f $f; exit 0; }
chmod $(printf %o $((n + 1))) $f
@R"""
    return hook(dice, body, most)


def time_of_a_file(dice: random.Random) -> Subject:
    """The modification time of a file is moved by a minute at each refusal."""
    most = limit(dice)
    body = """
[ -e $p/.stamp ] || touch -d @1000000000 $p/.stamp
t=$(stat -c %Y $p/.stamp)
(( (t - 1000000000) / 60 >= @L )) && exit 0
touch -d @$((t + 60)) $p/.stamp
@R"""
    return hook(dice, body, most)


def name_of_a_file(dice: random.Random) -> Subject:
    """A file that is renamed at each refusal."""
    most = limit(dice)
    body = """
f=$(echo $p/round.*)
case $f in *'*') : > $p/round.0; f=$p/round.0;; esac
n=${f##*.}
[ "$n" = @L ] && exit 0
mv $f $p/round.$((n + 1))
@R"""
    return hook(dice, body, most, head=SH)


def depth_of_folders(dice: random.Random) -> Subject:
    """A folder within a folder at each refusal."""
    most = limit(dice, 40)
    body = """
d=$p/deep; depth=0
while [ -d $d ]; do d=$d/d; depth=$((depth + 1)); done
[ $depth -gt @L ] && exit 0
mkdir $d
[ $depth -eq 0 ] && mkdir $d/d
@R"""
    return hook(dice, body, most)


def hard_links(dice: random.Random) -> Subject:
    """The number of hard links of a file is the count."""
    most = limit(dice, 60)
    body = """
[ -f $p/anchor ] || { mkdir -p $p/links; : > $p/anchor; }
n=$(stat -c %h $p/anchor)
[ $n -gt @L ] && { rm -rf $p/links $p/anchor; exit 0; }
ln $p/anchor $p/links/$n
@R"""
    return hook(dice, body, most)


def sparse_file(dice: random.Random) -> Subject:
    """A file without content whose length is the count."""
    most = limit(dice)
    body = """
truncate -s +4096 $p/pad
test $(stat -c %s $p/pad) -gt $((4096 * @L)) && { rm $p/pad; exit 0; }
@R"""
    return hook(dice, body, most)


def byte_of_a_file(dice: random.Random) -> Subject:
    """One raw byte."""
    most = limit(dice)
    body = """
n=$(od -An -tu1 $p/b 2>/dev/null | tr -d ' ')
[ "${n:-0}" -eq @L ] && exit 0
printf "\\\\$(printf %03o $((${n:-0} + 1)))" > $p/b
@R"""
    return hook(dice, body, most)


def digits_in_two_files(dice: random.Random) -> Subject:
    """Tens and ones are kept in two files."""
    most = limit(dice, 99)
    body = """
read -r tens 2>/dev/null < $p/tens || tens=0
read -r ones 2>/dev/null < $p/ones || ones=0
[ $tens$ones = @L ] && exit 0
ones=$((ones + 1))
[ $ones = 10 ] && { ones=0; tens=$((tens + 1)); }
echo $tens > $p/tens; echo $ones > $p/ones
@R"""
    return hook(dice, body, most, L=f"{most:02}")


def base64_state(dice: random.Random) -> Subject:
    """A record of several fields in base64."""
    most = limit(dice)
    body = """
IFS=: read -r tag n rest <<< "$(base64 -d $p/.s 2>/dev/null || echo v2:0:x)"
((n == @L)) && exit 0
echo "v2:$((n + 1)):$(date +%s)" | base64 > $p/.s
@R"""
    return hook(dice, body, most)


def zipped_log(dice: random.Random) -> Subject:
    """A log that is kept compressed."""
    most = limit(dice, 120)
    body = """
n=$(zcat $p/log.gz 2>/dev/null | wc -l)
[ $n -lt @L ] || exit 0
echo "refused for the ${n}th time" | gzip @O >> $p/log.gz
@R"""
    return hook(dice, body, most, O=dice.choice(("-n", "-1", "-9n")))


def ticked_off(dice: random.Random) -> Subject:
    """A list of things to do, one of which is ticked off at each refusal."""
    most = limit(dice, 90)
    todo = "".join(f"- [ ] step {number}\n" for number in range(most))
    body = """
grep -q '^- \\[ \\]' TODO.md || exit 0
sed -i '0,/\\[ \\]/s//[x]/' TODO.md
@R"""
    return hook(dice, body, most, files={"TODO.md": f"# Plan\n\n{todo}"})


def queue(dice: random.Random) -> Subject:
    """A queue whose first line is taken at each refusal."""
    most = limit(dice, 90)
    words = "".join(f"{dice.choice(('lint', 'test', 'doc'))}-{dice.randrange(10**6)}\n" for _ in range(most))
    body = """
[ -s queue.txt ] || exit 0
job=$(head -n 1 queue.txt)
tail -n +2 queue.txt > queue.new && mv queue.new queue.txt
echo "do $job next" >&2
exit 2"""
    return hook(dice, body, most, files={"queue.txt": words})


def by_session(dice: random.Random) -> Subject:
    """A count for each session, found by jq."""
    most = limit(dice)
    body = """
sid=$(jq -r .session_id)
f=$p/$sid.json
[ -f $f ] || echo '{"blocks": 0, "history": []}' > $f
[ $(jq .blocks $f) -ge @L ] && exit 0
jq -c '.blocks += 1 | .history = (.history + [now])[-5:]' $f > $f.new && mv $f.new $f
@R"""
    return hook(dice, body, most, needs=("jq",))


def locked_number(dice: random.Random) -> Subject:
    """A number below a lock, which is kept with other settings."""
    most = limit(dice)
    body = """
exec 9> $p/gate.lock
flock 9
[ -f $p/gate.env ] || printf 'OWNER=agent\\nTRIES=0\\nLAST=never\\n' > $p/gate.env
. $p/gate.env
test "$TRIES" -lt @L || exit 0
sed -i -e "s/^TRIES=.*/TRIES=$((TRIES + 1))/" -e "s/^LAST=.*/LAST=$(date +%H:%M:%S)/" $p/gate.env
@R"""
    return hook(dice, body, most, needs=("flock",))


SHELL_COUNTERS = (
    number_in_a_file,
    number_that_must_be_met,
    size_of_a_file,
    lines_of_a_log,
    numbered_files,
    random_names,
    target_of_a_link,
    mode_of_a_file,
    time_of_a_file,
    name_of_a_file,
    depth_of_folders,
    hard_links,
    sparse_file,
    byte_of_a_file,
    digits_in_two_files,
    base64_state,
    zipped_log,
    ticked_off,
    queue,
    by_session,
    locked_number,
)
