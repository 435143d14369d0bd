#!/bin/bash
# Objects compiled for one instruction set must not define what the linker merges with the copies of others: it keeps
# any one, perhaps the one with instructions that the machine lacks. check_isa_objects.sh OBJECT...
set -euo pipefail

# The personality routine's address is data, the same in every copy.
found=$(nm --demangle --defined-only --print-file-name "$@" | grep -E ':[0-9a-f]+ [WVu] ' |
  grep -v 'DW\.ref\.__gxx_personality_v0' || true)
if [[ -n $found ]]; then
  printf '%s\n' "$found" | head -20
  echo "$(printf '%s\n' "$found" | wc -l) symbols are shared between instruction sets"
  exit 1
fi
echo "$# objects share nothing"
