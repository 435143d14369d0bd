#!/usr/bin/env bash
# What CI checks beyond tests/run.sh: ci.sh [stage ...], default all of them, each on its own.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tests/support/common.sh"
ci=$build/ci
stages=(format tidy consumer headers cling notebooks compile_time clang sanitize)

sources() { git -C "$root" ls-files --cached --others --exclude-standard -- "$@"; }

# Builds and installs the library as run.sh does, for the stages that look at it from outside.
install_library() {
  configure "$build" -DMEZZO_BUILD_TESTS=ON -DMEZZO_BUILD_TUTORIALS=ON
  compile "$build" mezzo
  rm -rf "$ci/prefix"
  cmake --install "$build" --prefix "$ci/prefix" --component Unspecified >/dev/null
}

stage_format() {
  cd "$root"
  local report
  report=$(sources '*.cpp' '*.hpp' | xargs -r clang-format-14 --dry-run 2>&1 |
    sed -nE 's/^([^:]+):[0-9]+:[0-9]+: warning: .*/\1/p' | uniq -c)
  [ -z "$report" ] || {
    printf '%s\n' "places not formatted, by file:" "$report" "mend with: git ls-files '*.[ch]pp' | xargs clang-format-14 -i"
    return 1
  }
}

# Files changed since the branch left its upstream, or in the last ten commits; at most MEZZO_TIDY_FILES.
stage_tidy() {
  cd "$root"
  local base limit=${MEZZO_TIDY_FILES:-60} changed
  base=$(git merge-base HEAD "@{upstream}" 2>/dev/null || true)
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse -q --verify HEAD)" ]; then
    base=$(git rev-parse -q --verify HEAD~10 || git hash-object -t tree /dev/null)
  fi
  changed=$({ git diff --name-only --diff-filter=d "$base" -- '*.cpp'; git ls-files --others --exclude-standard -- '*.cpp'; } |
    { grep -vE '^tests/(consumer|cling|compile_fail)/|\.isa\.cpp$' || true; } | sort -u)
  [ -n "$changed" ] || { echo "no changed file" && return 0; }
  echo "$(wc -l <<<"$changed") changed files, of which at most $limit are checked"
  configure "$build" -DMEZZO_BUILD_TESTS=ON -DMEZZO_BUILD_TUTORIALS=ON
  # A spread over all of them, not the first by name.
  shuf -n "$limit" --random-source=.clang-tidy <<<"$changed" |
    xargs -P "$jobs" -n 4 clang-tidy-14 -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option 2>&1 | sed '/warnings\? generated\.$/d'
}

# A project of a user's: find_package, compile as C++17, run.
stage_consumer() {
  install_library
  rm -rf "$ci/consumer"
  cmake -S "$root/tests/consumer" -B "$ci/consumer" -G Ninja --log-level=WARNING -DCMAKE_PREFIX_PATH="$ci/prefix"
  compile "$ci/consumer"
  "$ci/consumer/consumer"
  "$ci/consumer/custom_ops"
}

stage_headers() {
  install_library
  bash "$root/tests/headers/check.sh" "$ci/prefix/include" "$jobs" g++ clang++-14
}

stage_cling() {
  install_library
  "$mezzo_cling/bin/python" "$root/tests/cling/run.py" "$ci/prefix" "$root/tests/cling/cells.C"
}

# The executed notebooks, with their outputs, are left in the build's ci/notebooks.
stage_notebooks() {
  install_library
  "$mezzo_cling/bin/python" "$root/tests/notebooks/test_run_notebook.py"
  mkdir -p "$ci/notebooks"
  local notebook
  for notebook in "$root"/tutorials/*.ipynb; do
    "$mezzo_cling/bin/python" "$root/tests/notebooks/run_notebook.py" "$ci/prefix" "$notebook" \
      "$ci/notebooks/$(basename "$notebook")"
  done
}

stage_compile_time() {
  install_library
  local compiler
  for compiler in g++ clang++-14; do
    TIMEFORMAT="$compiler: a file that includes <mezzo/mezzo.hpp> compiles in %U s (user), %R s (real)"
    time $compiler -std=c++17 -I "$ci/prefix/include" -c "$root/tests/consumer/main.cpp" -o /dev/null
  done
}

# The second compiler with the second oneDNN.
stage_clang() {
  configure "$ci/clang" -DCMAKE_CXX_COMPILER=clang++-14 -DMEZZO_ONEDNN_ROOT="$mezzo_onednn3" \
    -DMEZZO_BUILD_TUTORIALS=OFF -DMEZZO_TEST_FOLDERS='^(backends|smoke)'
  compile "$ci/clang"
  run_tests "$ci/clang"
}

stage_sanitize() {
  configure "$ci/sanitize" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" \
    -DMEZZO_SANITIZE=address,undefined -DMEZZO_BUILD_TUTORIALS=OFF
  compile "$ci/sanitize"
  MEZZO_TEST_SMALL=1 UBSAN_OPTIONS=print_stacktrace=1 run_tests "$ci/sanitize"
}

if [ "${1:-}" = --stage ]; then
  "stage_$2"
  exit
fi

[ $# -eq 0 ] || stages=("$@")
for stage in "${stages[@]}"; do
  declare -F "stage_$stage" >/dev/null || { echo "no stage $stage" >&2 && exit 2; }
done
bash "$root/tests/install.sh" ci

passed=0 failed=()
for stage in "${stages[@]}"; do
  echo "== $stage"
  SECONDS=0
  # A process of its own: in a condition, a function would not stop at its first error.
  if bash "${BASH_SOURCE[0]}" --stage "$stage"; then
    passed=$((passed + 1))
    echo "== $stage passed in $SECONDS s"
  else
    failed+=("$stage")
    echo "== $stage FAILED in $SECONDS s"
  fi
done
[ ${#failed[@]} -eq 0 ] || echo "failed: ${failed[*]}"
echo "$passed passed, ${#failed[@]} failed"
[ ${#failed[@]} -eq 0 ]
