#!/usr/bin/env bash
# check.sh INCLUDE JOBS COMPILER OTHER: each installed header compiles alone as C++17 without a warning by COMPILER, and
# all of them together by OTHER.
set -euo pipefail
include=$1 jobs=$2 compiler=$3 other=$4
options=(-std=c++17 -fsyntax-only -Wall -Wextra -Wshadow -Wpedantic -Werror -I . -isystem /usr/include/eigen3
  -isystem /usr/include/opencv4)
cd "$include"
headers=$(find mezzo -name '*.hpp' | sort)
xargs -P "$jobs" -I HEADER "$compiler" "${options[@]}" -Wno-pragma-once-outside-header -include HEADER -x c++ /dev/null \
  <<<"$headers"
sed 's/.*/#include <&>/' <<<"$headers" | "$other" "${options[@]}" -x c++ -
echo "$(wc -l <<<"$headers") headers"
