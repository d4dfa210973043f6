#!/bin/sh
# Reads SKIP_GUARD from its own environment, which is not that of the command.
[ "${SKIP_GUARD:-}" = 1 ] && exit 0
case "$(jq -r .tool_input.command)" in
*"rm -rf"*)
  echo "This removes a folder. Set SKIP_GUARD=1 to go on." >&2
  exit 2
  ;;
esac
