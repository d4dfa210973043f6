#!/usr/bin/env -S python3 -S -E
# A hook that stays, traps SIGTERM and leaves a child behind as its arguments tell it to; it marks what befell it.
import os
import signal
import sys
import time

with open("/proc/self/stat") as stat, open("/proc/uptime") as uptime:
    ticks = int(stat.read().rpartition(")")[2].split()[19])
    age = float(uptime.read().split()[0]) - ticks / os.sysconf("SC_CLK_TCK")
began = time.time() - age
told = dict(word.lstrip("-").partition("=")[::2] for word in sys.argv[1:])


def mark(name):
    with open(name, "w") as file:
        file.write("\n")


def on_term(*_):
    mark("mark-term")
    if told.get("term") == "ends":
        os._exit(0)


if "term" in told:
    signal.signal(signal.SIGTERM, on_term)
sys.stdin.buffer.read()
sys.stderr.write(f"began {began}\n")
sys.stderr.flush()
os.write(1, told.get("out", "").encode())
if "child" in told:
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if "session" in told:
            os.setsid()
        if "quiet" in told:
            nothing = os.open("/dev/null", os.O_RDWR)
            for stream in range(3):
                os.dup2(nothing, stream)
        time.sleep(float(told["child"]))
        mark("mark-child-end")
        os._exit(0)
    if "waits" in told:
        os.waitpid(pid, 0)
end = time.monotonic() + float(told.get("sleep", 0))
while (rest := end - time.monotonic()) > 0:
    time.sleep(rest)
mark("mark-end")
os._exit(int(told.get("exit", 0)))
