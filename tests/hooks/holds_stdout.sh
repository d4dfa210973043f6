#!/bin/bash
# Answers and exits 0 while a child holds its standard output.
sleep "$TOY_SECONDS" </dev/null 2>/dev/null &
echo '{"decision":"block"}'
exit 0
