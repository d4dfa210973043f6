#!/usr/bin/env -S python3 -S -E
# Statistics of stops for the dashboard.
import os
import sqlite3
import sys

db = sqlite3.connect(os.path.join(os.environ["HOME"], "stops.sqlite"))
db.execute("pragma synchronous=off")
db.execute("create table if not exists stops (id integer primary key, at real default (julianday('now')))")
db.execute("insert into stops default values")
db.commit()
(count,) = db.execute("select count(*) from stops").fetchone()
db.close()

if os.path.exists("RELEASE_NOTES.md"):
    sys.exit(0)
print("Stop %d: there are no release notes." % count, file=sys.stderr)
sys.exit(2)
