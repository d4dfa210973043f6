#!/bin/sh
# Any hook: reads its input and says what its arguments tell it to, once or every time.
code=0 label=hook out= err= signal= deaf= once= pause=
while [ $# -gt 0 ]; do
  case $1 in
    --label) label=$2; shift ;;
    --out) out=$2; shift ;;
    --err) err=$2; shift ;;
    --exit) code=$2; shift ;;
    --signal) signal=$2; shift ;;
    --sleep) pause=$2; shift ;;
    --deaf) deaf=yes ;;
    --once) once=yes ;;
    *) echo "unknown argument $1" >&2; exit 64 ;;
  esac
  shift
done
[ "$deaf" ] || cat >/dev/null
if [ "$once" ]; then
  [ -e "$TMPDIR/said-$label" ] && exit 0
  : >"$TMPDIR/said-$label"
fi
[ "$pause" ] && sleep "$pause"
printf %s "$out"
printf %s "$err" >&2
[ "$signal" ] && kill "-$signal" $$
exit "$code"
