"""The queue: what became of each rule in each session, as JSON, written whole or not at all."""

import contextlib
import fcntl
import json
import os

SESSIONS_KEPT = 50


class Queue:
    """Sessions by id. A session holds the names of its rules and an entry for each that was triggered."""

    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "queue.json"

    @contextlib.contextmanager
    def opened(self, payload, names):
        """The payload's session, to be changed; nobody else has the queue meanwhile."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            sessions = self._read()
            # The rules of a session are fixed when it begins: an agent that writes a new rule in each
            # turn would never be done. Blocked before, yet nothing remembered: somebody removed the
            # queue; a session without rules lets go.
            known = [] if payload.get("stop_hook_active") else sorted(names)
            session = sessions.setdefault(str(payload.get("session_id")), {"rules": known, "entries": {}})
            yield session
            # One name is enough for the new file: only the holder of the lock writes it.
            new = self.folder / "queue.json.new"
            new.write_text(json.dumps(dict(list(sessions.items())[-SESSIONS_KEPT:]), indent=1) + "\n")
            os.replace(new, self.file)

    def _read(self):
        try:
            sessions = json.loads(self.file.read_text())
            whole = all(session.keys() >= {"rules", "entries"} for session in sessions.values())
        except (OSError, ValueError, AttributeError):
            return {}
        return sessions if whole else {}
