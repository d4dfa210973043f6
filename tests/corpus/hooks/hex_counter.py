#!/usr/bin/env -S python3 -S -E
# Serial number of the refusal, in hex like everything in this build system.
import sys

NAME = ".serial"
try:
    with open(NAME) as f:
        serial = int(f.read().strip(), 16)
except FileNotFoundError:
    serial = 0

if serial >= 0x1F4:
    sys.exit(0)

with open(NAME, "w") as f:
    f.write(hex(serial + 1) + "\n")
print("refusal %#x: binary size grew" % serial, file=sys.stderr)
sys.exit(2)
