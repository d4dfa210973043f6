"""Mechanisms written down as hooks, in bash and in Python."""

from __future__ import annotations

from collections.abc import Mapping

from .mechanisms import Count, Mechanism

BASH_PLACES: Mapping[str, str] = {
    "project": "$PWD/.gate",
    "home": "$HOME/.gate",
    "tmp": "${TMPDIR:-/tmp}/gate",
}
PYTHON_PLACES: Mapping[str, str] = {
    "project": '".gate"',
    "home": 'os.path.expanduser("~/.gate")',
    "tmp": 'os.environ.get("TMPDIR", "/tmp") + "/gate"',
}

# How a counter is read from "$count" into n, and written there.
BASH_FORMATS: Mapping[str, tuple[str, str]] = {
    "plain": ('[ -f "$count" ] && read -r n < "$count"', 'echo "$n" > "$count"'),
    "padded": (
        '[ -f "$count" ] && read -r n < "$count" && n=$((10#$n))',
        'printf \'%05d\\n\' "$n" > "$count"',
    ),
    "hex": ('[ -f "$count" ] && read -r n < "$count" && n=$((16#$n))', 'printf \'%x\\n\' "$n" > "$count"'),
    "dots": (
        '[ -f "$count" ] && dots=$(< "$count") && n=${#dots}',
        'printf -v dots \'%*s\' "$n" ""\necho "${dots// /.}" > "$count"',
    ),
    "key_value": (
        '[ -f "$count" ] && n=$(sed -n \'s/^count=//p\' "$count")',
        'printf \'owner=agent\\ncount=%d\\n\' "$n" > "$count"',
    ),
    "json": (
        '[[ -f $count && $(< "$count") =~ \\"count\\":\\ (-?[0-9]+) ]] && n=${BASH_REMATCH[1]}',
        'printf \'{"tool": "gate", "count": %d}\\n\' "$n" > "$count"',
    ),
    "front_matter": (
        '[ -f "$count" ] && n=$(sed -n \'s/^iteration: //p\' "$count")',
        'printf -- \'---\\niteration: %d\\n---\\nGo on.\\n\' "$n" > "$count"',
    ),
    "name": (
        'for f in "$count".*; do [ -e "$f" ] && n=${f##*.}; done',
        'rm -f "$count".*\n: > "$count.$n"',
    ),
}
PYTHON_FORMATS: Mapping[str, tuple[str, str]] = {
    "plain": ("n = int(read(count))", 'text = "%d\\n" % n'),
    "padded": ("n = int(read(count))", 'text = "%05d\\n" % n'),
    "hex": ("n = int(read(count), 16)", 'text = hex(n) + "\\n"'),
    "dots": ("n = len(read(count))", 'text = "." * n'),
    "key_value": ('n = int(read(count).split("count=")[1])', 'text = "owner=agent\\ncount=%d\\n" % n'),
    "json": ('n = json.loads(read(count))["count"]', 'text = json.dumps({"tool": "gate", "count": n})'),
    "front_matter": (
        'n = int(read(count).split("iteration: ")[1].split()[0])',
        'text = "---\\niteration: %d\\n---\\nGo on.\\n" % n',
    ),
    "name": (
        "n = max(int(name.rpartition('.')[2]) for name in glob.glob(count + '.*'))",
        "for name in glob.glob(count + '.*'):\n    os.remove(name)\ncount, text = '%s.%d' % (count, n), ''",
    ),
}

BASH_NOISES: Mapping[str, tuple[str, str]] = {
    "second": ("printf -v second '%(%s)T' -1\necho \"$second\" > .last-second", "$second"),
    "millisecond": ('ms=${EPOCHREALTIME/[.,]/}\necho "${ms%???}" > .last-ms', "${ms%???}"),
    "iso": ("printf -v iso '%(%FT%T)T' -1\necho \"at: $iso\" > .last-iso", "$iso"),
    "uuid": ('read -r uuid < /proc/sys/kernel/random/uuid\necho "$uuid" > .incident', "$uuid"),
    "pid": ("echo $$ > .pid", "$$"),
    "turns": ("if [ -f .blue ]; then rm .blue; : > .green; else rm -f .green; : > .blue; fi", ""),
}
PYTHON_TURNS = """\
old, new = (".blue", ".green") if os.path.exists(".blue") else (".green", ".blue")
if os.path.exists(old):
    os.remove(old)
write(new, "")"""
PYTHON_NOISES: Mapping[str, tuple[str, str]] = {
    "second": ('write(".last-second", "%d\\n" % time.time())', '"%d" % time.time()'),
    "millisecond": ('write(".last-ms", "%d\\n" % (time.time() * 1000))', '"%d" % (time.time() * 1000)'),
    "iso": ('write(".last-iso", time.strftime("%Y-%m-%dT%H:%M:%S"))', 'time.strftime("%Y-%m-%dT%H:%M:%S")'),
    "uuid": ("uuid = os.urandom(16).hex()\nwrite('.incident', uuid)", "uuid"),
    "pid": ('write(".pid", str(os.getpid()))', "str(os.getpid())"),
    "turns": (PYTHON_TURNS, ""),
}


def compared(count: Count, *, bash: bool) -> str:
    """The comparison of a counter with its limit."""
    if count.exact:
        return '"$n" -eq "$limit"' if bash else "n == limit"
    if bash:
        return f'"$n" {"-ge" if count.step > 0 else "-le"} "$limit"'
    return "n >= limit" if count.step > 0 else "n <= limit"


def moved(count: Count, *, bash: bool) -> str:
    """The step of a counter."""
    sum_ = f"n {'-' if count.step < 0 else '+'} {abs(count.step)}"
    value = f"({sum_}) % {count.wrap}" if count.wrap else sum_
    return f"n=$(({value}))" if bash else f"n = {value}"


def write_bash(mechanism: Mechanism) -> str:
    """A mechanism as a bash script."""
    count, log = mechanism.count, mechanism.log
    lines = ["#!/bin/bash"]
    late: list[str] = []
    conditions: list[str] = []
    if count:
        load, save = BASH_FORMATS[count.format]
        lines += [
            f'count="{BASH_PLACES[count.place]}-count"',
            f"n={count.start}",
            load,
            f"limit={count.limit}",
        ]
        if count.rearm is not None:
            lines.append("[ -f .gate-limit ] && read -r limit < .gate-limit")
        (lines if count.early else late).extend([moved(count, bash=True), save])
        if count.rearm is not None:
            late.append(f"echo $((n + {count.rearm})) > .gate-limit")
        conditions.append(f"[ {compared(count, bash=True)} ]")
    if log:
        lines.append(f'log="{BASH_PLACES[log.place]}.log"')
        late += ["printf '%(%T)T refused\\n' -1 >> \"$log\""] * log.lines
        if log.limit is not None:
            lines.append('entries=()\n[ -f "$log" ] && mapfile -t entries < "$log"')
            conditions.append(f"[ ${{#entries[@]}} -ge {log.limit} ]")
    if conditions:
        joined = (" && " if mechanism.joined == "and" else " || ").join(conditions)
        lines.append(f"if {joined}; then\n  exit 0\nfi")
    lines += [*late, *(BASH_NOISES[noise][0] for noise in mechanism.noises)]
    reason = "The check failed" + (f" ({BASH_NOISES[mechanism.echoed][1]})" if mechanism.echoed else "")
    if mechanism.reply == "code":
        lines.append(f'echo "{reason}." >&2\nexit 2')
    else:
        lines.append(f'echo "{{\\"decision\\": \\"block\\", \\"reason\\": \\"{reason}.\\"}}"')
    return "\n".join(lines) + "\n"


PYTHON_HEAD = """\
#!/usr/bin/env -S python3 -S -E
import glob
import json
import os
import sys
import time


def read(name):
    with open(name) as f:
        return f.read().strip()


def write(name, text):
    with open(name, "w") as f:
        f.write(text)

"""


def write_python(mechanism: Mechanism) -> str:
    """A mechanism as a Python script."""
    count, log = mechanism.count, mechanism.log
    lines = [PYTHON_HEAD]
    late: list[str] = []
    conditions: list[str] = []
    if count:
        load, save = PYTHON_FORMATS[count.format]
        lines += [
            f'count = {PYTHON_PLACES[count.place]} + "-count"',
            f"n, limit = {count.start}, {count.limit}",
        ]
        kept = "glob.glob(count + '.*')" if count.format == "name" else "os.path.exists(count)"
        lines.append(f"if {kept}:\n    {load}")
        if count.rearm is not None:
            lines.append('if os.path.exists(".gate-limit"):\n    limit = int(read(".gate-limit"))')
        (lines if count.early else late).extend([moved(count, bash=False), save, "write(count, text)"])
        if count.rearm is not None:
            late.append(f'write(".gate-limit", str(n + {count.rearm}))')
        conditions.append(compared(count, bash=False))
    if log:
        lines.append(f'log = {PYTHON_PLACES[log.place]} + ".log"')
        late.append(
            f'with open(log, "a") as f:\n    f.write((time.strftime("%T") + " refused\\n") * {log.lines})'
        )
        if log.limit is not None:
            lines.append("entries = read(log).splitlines() if os.path.exists(log) else []")
            conditions.append(f"len(entries) >= {log.limit}")
    if conditions:
        lines.append(f"if {f' {mechanism.joined} '.join(conditions)}:\n    sys.exit(0)")
    lines += [*late, *(PYTHON_NOISES[noise][0] for noise in mechanism.noises)]
    echoed = f' + " (" + {PYTHON_NOISES[mechanism.echoed][1]} + ")"' if mechanism.echoed else ""
    lines.append(f'reason = "The check failed"{echoed}')
    if mechanism.reply == "code":
        lines.append("print(reason, file=sys.stderr)\nsys.exit(2)")
    else:
        lines.append('print(json.dumps({"decision": "block", "reason": reason}))')
    return "\n".join(lines) + "\n"
