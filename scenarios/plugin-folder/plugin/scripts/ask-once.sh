#!/bin/sh
# Stop hook of a plugin: asks once in a session for a summary, and remembers that in the plugin's own data folder.
mkdir -p "$CLAUDE_PLUGIN_DATA"
asked="$CLAUDE_PLUGIN_DATA/asked-$CLAUDE_CODE_SESSION_ID"
if [ ! -e "$asked" ]; then
  : >"$asked"
  echo 'Say in one sentence what you changed.' >&2
  exit 2
fi
