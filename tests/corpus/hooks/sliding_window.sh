#!/bin/bash
# More than a dozen refusals within an hour: somebody should look, let the agent go.
file="${TMPDIR:-/tmp}/window"
printf -v now '%(%s)T' -1
window=()
[ -f "$file" ] && read -r -a window < "$file"

kept=()
for at in "${window[@]}"; do
  ((now - at < 3600)) && kept+=("$at")
done
if [ ${#kept[@]} -gt 12 ]; then
  exit 0
fi
kept+=("$now")
[ ${#kept[@]} -gt 10 ] && kept=("${kept[@]: -10}")
echo "${kept[*]}" > "$file"
echo "Translations are incomplete." >&2
exit 2
