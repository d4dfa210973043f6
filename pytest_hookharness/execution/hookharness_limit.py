#!/usr/bin/env python3
"""
Limit the refusals of a Stop hook, so that it cannot keep an agent going forever.

    hookharness-limit --after 3 -- ./check.sh --strict

runs `./check.sh --strict` with the same standard input, and passes on its output and its exit code. After
three refusals between which nothing in the repository changed, the stop is allowed, and the user is told.
Changes are no way round: `--at-most` limits all refusals of one prompt. Counting starts anew with each
prompt, and after a stop that the command itself allows.

OpenHands, Goose, Gemini CLI and older versions of Copilot do not tell their hooks when a prompt begins. There
counting goes on until the command allows a stop; on OpenHands and Goose, `hookharness-limit --forget` as a
hook of UserPromptSubmit starts it anew.

This file needs Python 3.9 or newer and nothing else, so it can be copied into a project and be run there as
`./hookharness_limit.py --after 3 -- ./check.sh`. The counts are kept below `$XDG_STATE_HOME` (or
`~/.local/state`), never in the project.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

_NAME = "hookharness-limit"
# The hosts with a variable HOST_PROJECT_DIR.
_HOSTS = ("CLAUDE", "GEMINI", "QWEN", "CURSOR", "FACTORY", "OPENHANDS")
_SESSIONS = ("session_id", "sessionId", "conversation_id", "conversationId")
_COUNTS, _REFUSING = ("loop_count", "executionNum"), ("block", "deny", "continue")
_CHUNK, _STARTERS = 1 << 16, ("sh", "bash", "dash", "zsh", "python", "node", "bun", "ruby", "perl", "php")
# Larger files, and files after this many, are compared by size and time.
_LARGE_FILE, _MOST_READ, _MOST_FILES = 1 << 20, 2000, 20_000
# Seconds: for git, for output that a child of the command still holds open, for the counts of old sessions.
_GIT_TIME, _LATE, _OLD = 10.0, 0.5, 14 * 86400.0


class CommandEnd(NamedTuple):
    """How the command ended: its exit code (negative for a signal) and its output."""

    status: int
    stdout: bytes
    stderr: bytes


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code, or 0 where its refusal is overridden."""
    options = _options(sys.argv[1:] if argv is None else list(argv))
    if options is None:
        # Never 2, with which argparse ends: hosts take that for a refusal.
        return 1
    data = _read_payload()
    payload = _parse(data)
    file = _state_file(payload, options.command)
    if options.forget:
        shutil.rmtree(file.parent, ignore_errors=True)
        return 0
    root = _root(payload)
    known = _recall(file.read_bytes, payload)
    # What the command itself writes is no change: only what happened since it ended counts.
    changed = bool(known) and known["tree"] != _fingerprint(root)
    ended = _run(options.command, data)
    # A refused tool call is never let through, wherever this is configured.
    if payload.get("tool_name") or not _refuses(ended):
        file.unlink(missing_ok=True)
        return _pass_on(ended)
    try:
        counts = _count(file, payload, changed=changed, tree=_fingerprint(root))
    except OSError as error:
        why = f"{file.parent}: {error.strerror}"
        sys.stderr.write(f"{_NAME}: refusals cannot be counted ({why}), so they are not limited\n")
        return _pass_on(ended)
    if counts["unchanged"] > options.after:
        why = f"refused {options.after} times in a row, with no change in the repository"
    elif counts["refusals"] > options.at_most:
        why = f"refused {options.at_most} times since the prompt"
    else:
        return _pass_on(ended)
    return _allow(payload, ended, options.command, why)


def _options(argv: list[str]) -> argparse.Namespace | None:
    parser = argparse.ArgumentParser(prog=_NAME, description="Limit the refusals of a Stop hook.")
    parser.add_argument("--after", type=int, default=3, metavar="N", help="refusals without any change (3)")
    parser.add_argument(
        "--at-most", type=int, default=10, metavar="N", help="refusals since the prompt, with changes (10)"
    )
    parser.add_argument("--forget", action="store_true", help="forget the counts of the session on stdin")
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="the hook, as in: -- ./check.sh")
    cut = argv.index("--") if "--" in argv else len(argv)
    try:
        options = parser.parse_args(argv[:cut])
    except SystemExit as end:
        if not end.code:
            raise
        return None
    options.command += argv[cut + 1 :]
    if options.after < 1 or options.at_most < options.after or bool(options.command) == options.forget:
        sys.stderr.write(f"{_NAME}: expected {_NAME} [--after N] [--at-most N] -- COMMAND, with 1 <= N\n")
        return None
    return options


def _read_payload() -> bytes:
    """Return standard input up to the end of its JSON object: not every host closes it."""
    data = b""
    while piece := os.read(0, _CHUNK):
        data += piece
        if data.rstrip().endswith(b"}") and _parse(data):
            break
    return data


def _parse(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _run(command: Sequence[str], data: bytes) -> CommandEnd:
    """Run the command with this and the rest of standard input; signals reach it as well."""
    try:
        process = _start(command)
    except OSError as error:
        # The exit codes of a shell.
        status = 127 if error.errno == errno.ENOENT else 126
        return CommandEnd(status, b"", f"{_NAME}: {command[0]}: {error.strerror}\n".encode())
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda caught, _: process.send_signal(caught))
    streams: list[tuple[IO[bytes] | None, list[bytes]]] = [(process.stdout, []), (process.stderr, [])]
    readers = [threading.Thread(target=_collect, args=pair, daemon=True) for pair in streams]
    for thread in (*readers, threading.Thread(target=_feed, args=(process.stdin, data), daemon=True)):
        thread.start()
    status = process.wait()
    for reader in readers:
        reader.join(_LATE)
    stdout, stderr = (b"".join(pieces) for _, pieces in streams)
    return CommandEnd(status, stdout, stderr)


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    def start(*words: str) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)

    try:
        return start(*command)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
    # A script without a first line that names its interpreter; shells run it themselves.
    return start("/bin/sh", *command)


def _feed(pipe: IO[bytes], data: bytes) -> None:
    # Written without a buffer: the command may end without having read everything.
    with contextlib.suppress(OSError):
        while data:
            data = data[os.write(pipe.fileno(), data) :] or os.read(0, _CHUNK)
    pipe.close()


def _collect(pipe: IO[bytes], pieces: list[bytes]) -> None:
    while piece := os.read(pipe.fileno(), _CHUNK):
        pieces.append(piece)


def _refuses(ended: CommandEnd) -> bool:
    """Return whether some host takes this end for a refusal: most exit codes, and some keys of an answer."""
    return ended.status not in (0, 1) or any(map(_keeps_going, map(_parse, (ended.stdout, ended.stderr))))


def _keeps_going(answer: Mapping[str, Any]) -> bool:
    own = answer.get("hookSpecificOutput")
    inner: Mapping[str, Any] = own if isinstance(own, dict) else {}
    words = (answer.get("decision"), inner.get("decision"), inner.get("permissionDecision"))
    texts = (answer.get("followup_message"), answer.get("additionalContext"), inner.get("additionalContext"))
    return any(word in _REFUSING for word in words) or any(texts) or answer.get("continue") is False


def _pass_on(ended: CommandEnd) -> int:
    _write(1, ended.stdout)
    _write(2, ended.stderr)
    if ended.status < 0:
        signal.signal(-ended.status, signal.SIG_DFL)
        os.kill(os.getpid(), -ended.status)
    return ended.status


def _allow(payload: Mapping[str, Any], ended: CommandEnd, words: Sequence[str], why: str) -> int:
    """Allow the stop that the command refused, and tell the user."""
    starts = os.path.basename(words[0]).rstrip("0123456789.") in _STARTERS
    scripts = (one for one in words[1:] if starts and one[:1] != "-" and not {*" =;\n"} & {*one})
    text = f"{_NAME}: the stop is allowed although {next(scripts, words[0])} refuses it ({why})."
    # Other hosts know no such key, and some would take an answer without known keys for a failure.
    if {"hook_event_name", "transcript_path"} <= payload.keys() and "conversation_id" not in payload:
        _write(1, json.dumps({"systemMessage": text}).encode() + b"\n")
    _write(2, ended.stderr + text.encode() + b"\n")
    return 0


def _write(descriptor: int, data: bytes) -> None:
    with contextlib.suppress(OSError):
        while data:
            data = data[os.write(descriptor, data) :]


def _state_file(payload: Mapping[str, Any], command: Sequence[str]) -> Path:
    given = os.environ.get("XDG_STATE_HOME", "")
    state = Path(given) if given.startswith("/") else Path.home() / ".local/state"
    session = next((str(payload[key]) for key in _SESSIONS if payload.get(key)), "")
    # A host that names no session has one for each project, as far as this can know.
    where = _digest(session or str(_root(payload)), str(payload.get("agent_id", "")))
    return state / _NAME / where / f"{_digest(*command)}.json"


def _digest(*texts: str) -> str:
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:24]


def _signs(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return what tells one prompt from the next: the host's name for it, and how often it was continued."""
    prompt = next((str(payload[key]) for key in ("prompt_id", "turn_id") if payload.get(key)), "")
    number = next((payload[key] for key in _COUNTS if isinstance(payload.get(key), int)), None)
    return {"prompt": prompt, "number": number}


def _recall(read: Callable[[], bytes], payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts since the prompt; empty if there are none, or if this is the first stop after one."""
    try:
        known = json.loads(read())
        if not isinstance(known["tree"], str) or known["refusals"] + known["unchanged"] < 0:
            return {}
    except (OSError, ValueError, TypeError, KeyError):
        return {}
    signs = _signs(payload)
    if signs["prompt"]:
        anew = signs["prompt"] != known.get("prompt")
    elif signs["number"] is not None:
        anew = signs["number"] <= (known.get("number") or 0)
    else:
        # Gemini CLI forgets the flag with each tool call, and its older versions never set it.
        anew = payload.get("stop_hook_active") is False and payload.get("hook_event_name") != "AfterAgent"
    return {} if anew else known


def _count(file: Path, payload: Mapping[str, Any], *, changed: bool, tree: str) -> dict[str, Any]:
    """Count one more refusal, and return the counts; several runs of one session may do so at once."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.touch(0o600)
    with file.open("r+b") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        known = _recall(stream.read, payload)
        counts = {
            "refusals": known.get("refusals", 0) + 1,
            "unchanged": 1 if changed else known.get("unchanged", 0) + 1,
            "tree": tree,
            **_signs(payload),
        }
        stream.seek(0)
        stream.truncate()
        stream.write(json.dumps(counts).encode())
    for folder in file.parent.parent.iterdir():
        if folder.stat().st_mtime < time.time() - _OLD:
            shutil.rmtree(folder, ignore_errors=True)
    return counts


def _root(payload: Mapping[str, Any]) -> Path:
    named = [os.environ.get(f"{host}_PROJECT_DIR", "") for host in _HOSTS]
    named += [str(payload.get(key, "")) for key in ("cwd", "working_dir")]
    return Path(next((name for name in named if name and Path(name).is_dir()), "."))


def _fingerprint(root: Path) -> str:
    """Return a digest of the files that git does not ignore; of all files where there is no repository."""
    digest = hashlib.sha256()
    status = _git_status(root)
    paths = _walk(root) if status is None else _named(root, status)
    for number, path in enumerate(islice(paths, _MOST_FILES)):
        digest.update(os.fsencode(path))
        digest.update(_look_at(path, number < _MOST_READ and status is not None))
    digest.update(status or b"")
    return digest.hexdigest()


def _git_status(root: Path) -> bytes | None:
    words = ["git", "-C", str(root), "status", "-z", "-uall", "--porcelain=v2", "--branch"]
    words += ["--no-ahead-behind", "--no-renames", "--", f":(top,exclude,glob)**/{_NAME}/**"]
    # Without it git would write the index, and meet the lock of the agent's own git.
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=_GIT_TIME,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return None if done.returncode else done.stdout


def _named(root: Path, status: bytes) -> Iterator[Path]:
    """Yield the changed and new files in a status of git, whose paths begin at the top of the work tree."""
    top = next((path for path in (root, *root.resolve().parents) if (path / ".git").exists()), root)
    fields = {b"1": 8, b"u": 10, b"?": 1}
    for line in status.split(b"\0"):
        parts = line.split(b" ", fields.get(line[:1], 0))
        if len(parts) > 1:
            yield top / os.fsdecode(parts[-1])


def _walk(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in (".git", "node_modules", _NAME))
        yield from (Path(folder, name) for name in sorted(files))


def _look_at(path: Path, closely: bool) -> bytes:
    try:
        found = path.lstat()
        if closely and path.is_file() and found.st_size <= _LARGE_FILE:
            return hashlib.sha256(path.read_bytes()).digest()
    except OSError:
        return b"missing"
    return f"{found.st_size} {found.st_mtime_ns} {found.st_mode}".encode()


if __name__ == "__main__":
    raise SystemExit(main())
