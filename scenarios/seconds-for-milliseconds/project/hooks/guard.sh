#!/bin/sh
# BeforeTool hook: looks for a moment and refuses by exit code 2, which other hosts understand as well.
sleep 0.2
echo 'build/ is shared; remove single files in it instead.' >&2
exit 2
