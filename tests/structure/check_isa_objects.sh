#!/bin/bash
# check_isa_objects.sh OBJECT...: checks that objects compiled for one instruction set define no weak symbols. The
# linker would keep any one of the copies, perhaps one with instructions that the machine lacks.
set -euo pipefail

# The address of the personality routine is data, and the same in every copy.
found=$(nm --demangle --defined-only --print-file-name "$@" | grep -E ':[0-9a-f]+ [WVu] ' |
  grep -v 'DW\.ref\.__gxx_personality_v0' || true)
if [[ -n $found ]]; then
  printf '%s\n' "$found" | head -20
  echo "$(printf '%s\n' "$found" | wc -l) symbols are shared between instruction sets"
  exit 1
fi
echo "$# objects share nothing"
