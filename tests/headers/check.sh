#!/usr/bin/env bash
# check.sh INCLUDE JOBS COMPILER...: each installed header compiles alone as C++17 without a warning.
set -euo pipefail
include=$1 jobs=$2
shift 2
cd "$include"
for compiler in "$@"; do
  find mezzo -name '*.hpp' | sort | xargs -P "$jobs" -I HEADER "$compiler" -std=c++17 -fsyntax-only \
    -Wall -Wextra -Wshadow -Wpedantic -Werror -Wno-pragma-once-outside-header -I . -include HEADER -x c++ /dev/null
  echo "$compiler: $(find mezzo -name '*.hpp' | wc -l) headers"
done
