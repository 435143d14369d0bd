#!/usr/bin/env bash
# check_exports.sh LIBRARY...: shared libraries export symbols of namespace mezzo and C functions mezzo_... only, and no
# instance of a template of the standard library.
set -euo pipefail
failed=0
for library in "$@"; do
  names=$(nm --dynamic --defined-only --format=posix "$library" | cut -d ' ' -f 1 | sed 's/@.*//')
  [ -n "$names" ] || { echo "$library: no symbol is exported" && failed=1; }
  others=$(grep -vE '^(mezzo_|MEZZO_C_[0-9]+$|_Z(T[ISTV]|TC|T[hv][nv0-9_]+|GV|GVZ|Z)?N[KRO]*5mezzo)' <<<"$names" || true)
  [ -z "$others" ] || {
    echo "$library: $(wc -l <<<"$others") symbols of others are exported; framework/mezzo/exports.txt lists what may be:"
    head -n 20 <<<"$others" | c++filt
    failed=1
  }
done
exit "$failed"
