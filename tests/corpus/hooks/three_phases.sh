#!/bin/bash
# Plan, build, check: send the agent to the next phase.
[ -d .claude ] || mkdir .claude
phase_file=.claude/phase
phase=check
[ -f "$phase_file" ] && read -r phase < "$phase_file"

case $phase in
  plan) next=build ;;
  build) next=check ;;
  check) next=plan ;;
  finished) exit 0 ;;
esac
echo "$next" > "$phase_file"
echo "Now go on with the phase '$next'." >&2
exit 2
