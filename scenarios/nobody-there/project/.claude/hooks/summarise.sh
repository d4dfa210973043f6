#!/bin/sh
# SessionEnd hook: has another session summarise this one, and moves the notes away that were meant for it.
[ -n "$IN_SUMMARY" ] && exit 0
mv NOTES.md OLD-NOTES.md
IN_SUMMARY=1 claude -p "Summarise OLD-NOTES.md" </dev/null >summary.txt
