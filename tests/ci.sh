#!/usr/bin/env bash
# What CI checks beyond tests/run.sh: ci.sh [stage ...], default all of them. Each stage runs on its own.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tests/support/common.sh"
ci=$build/ci
stages=(format site avx2 sse2 install packages mpi tidy consumer headers cling notebooks compile_time sanitize fuzz)
all_stages="${stages[*]} threads"                              # threads runs by name only
with_install=' consumer headers cling notebooks compile_time '  # stages that look at the installed library
together=' consumer cling notebooks '                          # stages of one thread, which run at the same time
# Folders of tests that compute with kernels.
computing='backends|compiler|graph|initializers|layers|losses|metrics|models|nn|ops|optimizers|parity|precision|regularizers|report|training'

sources() { git -C "$root" ls-files --cached --others --exclude-standard -- "$@"; }

# The library and the command, built as run.sh builds them, in a prefix for the stages that use them from outside. The
# prefix is moved, since programs must run from any place.
stage_install() {
  configure "$build" -DMEZZO_BUILD_TESTS=ON -DMEZZO_BUILD_TUTORIALS=ON -DMEZZO_WERROR=ON
  compile "$build" mezzo mezzo_onnx mezzo_c mezzo_cli
  rm -rf "$ci/prefix" "$ci/installed"
  cmake --install "$build" --prefix "$ci/installed" >/dev/null
  mv "$ci/installed" "$ci/prefix"
  "$ci/prefix/bin/mezzo" --version
}

# Debian's packages, made of the objects in run.sh's build, whose prefix is /usr meanwhile, and used in a bare Debian.
stage_packages() {
  local options=(-DMEZZO_BUILD_TESTS=ON -DMEZZO_BUILD_TUTORIALS=ON -DMEZZO_WERROR=ON)
  trap 'configure "$build" -DCMAKE_INSTALL_PREFIX=/usr/local' EXIT
  configure "$build" "${options[@]}" -DCMAKE_INSTALL_PREFIX=/usr
  compile "$build" mezzo mezzo_onnx mezzo_c mezzo_cli mezzo_sentencepiece mezzo_mpi mezzo_man_page
  rm -rf "$build/packages"
  (cd "$build" && cpack -G DEB >"$ci/cpack.log") || { cat "$ci/cpack.log" && return 1; }
  rm -rf "$build/packages/_CPack_Packages"
  bash "$root/tests/packages/check.sh" "$root" "$build/packages" "${MEZZO_CHROOT:-/var/tmp/mezzo-packages}"
}

# test_isa MEZZO'S-LIMIT ONEDNN'S-LIMIT: tests whose results may depend on the instruction set, on a lower one than the
# machine's, in the build of run.sh.
test_isa() {
  configure "$build" -DMEZZO_BUILD_TESTS=ON -DMEZZO_BUILD_TUTORIALS=ON -DMEZZO_WERROR=ON
  compile "$build"
  MEZZO_MAX_ISA=$1 ONEDNN_MAX_CPU_ISA=$2 MEZZO_TEST_SMALL=1 run_tests "$build" -R "^($computing)\\."
}

stage_avx2() { test_isa AVX2 AVX2; }

stage_sse2() { test_isa SSE2 SSE41; }

# Trainings under Open MPI, which the build finds, and under MPICH, for which only the plug-in is compiled again.
stage_mpi() {
  configure "$build" -DMEZZO_BUILD_TESTS=ON -DMEZZO_BUILD_TUTORIALS=ON -DMEZZO_WERROR=ON
  compile "$build" mezzo_mpi mezzo_mpi_ranks
  run_tests "$build" -R '^distributed\.mpi\.'
  mkdir -p "$ci/mpich"
  mpicxx.mpich -std=c++20 -O2 -fPIC -shared -DMPICH_SKIP_MPICXX -I "$root/framework" \
    "$root/framework/mezzo/distributed/mpi/plugin.cpp" -o "$ci/mpich/libmezzo_mpi.so"
  local scenario output
  for scenario in collectives training sharded throws killed interrupted kills model batches leaves; do
    output=$(MEZZO_MPIRUN=mpirun.mpich bash "$root/tests/distributed/mpi/run.sh" "$build/tests/mezzo_mpi_ranks" \
      "$ci/mpich/libmezzo_mpi.so" "$scenario" 2 2>&1) || { printf '%s\n' "MPICH, $scenario:" "$output" && return 1; }
  done
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

# The pages of the site from docs and headers, without warnings and with all links checked.
stage_site() { bash "$root/docs/site/build.sh" "$ci/site"; }

# Files changed since the branch left its upstream, or in the last ten commits; at most MEZZO_TIDY_FILES.
stage_tidy() {
  cd "$root"
  local base limit=${MEZZO_TIDY_FILES:-40} changed
  base=$(git merge-base HEAD "@{upstream}" 2>/dev/null || true)
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse -q --verify HEAD)" ]; then
    base=$(git rev-parse -q --verify HEAD~10 || git hash-object -t tree /dev/null)
  fi
  changed=$({ git diff --name-only --diff-filter=d "$base" -- '*.cpp'; git ls-files --others --exclude-standard -- '*.cpp'; } |
    { grep -vE '^tests/(consumer|cling|compile_fail|fuzz)/|\.isa\.cpp$' || true; } | sort -u)
  [ -n "$changed" ] || { echo "no changed file" && return 0; }
  echo "$(wc -l <<<"$changed") changed files, of which at most $limit are checked"
  # clang-tidy can't read precompiled headers of g++ and looks at each test file on its own. Nothing is compiled here.
  configure "$ci/tidy" -DMEZZO_BUILD_TESTS=ON -DMEZZO_BUILD_TUTORIALS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
    -DMEZZO_SOURCE_BATCH=1 -DMEZZO_TEST_BATCH=1
  # A spread over all of them, not the first by name.
  shuf -n "$limit" --random-source=.clang-tidy <<<"$changed" |
    xargs -P "$jobs" -n 4 clang-tidy-14 -p "$ci/tidy" --quiet --extra-arg=-Wno-unknown-warning-option 2>&1 | sed '/warnings\? generated\.$/d'
}

# Projects of users: find_package and pkg-config, compiled as C++17 and run, and add_subdirectory, looked at.
stage_consumer() {
  bash "$root/tests/consumer/check.sh" "$root" "$ci/prefix" "$ci/consumer" g++
  bash "$root/tests/consumer/subproject.sh" "$root" "$ci/consumer_subproject"
}

stage_headers() {
  bash "$root/tests/headers/check.sh" "$ci/prefix/include" "$jobs" clang++-14 g++
}

stage_cling() {
  "$mezzo_cling/bin/python" "$root/tests/cling/run.py" "$ci/prefix" "$root/tests/cling/cells.C"
}

# The executed notebooks, with their outputs, are left in the build's ci/notebooks.
stage_notebooks() {
  local python=$mezzo_kernel/bin/python
  "$python" "$root/tests/notebooks/test_run_notebook.py"
  "$ci/prefix/bin/mezzo" notebook install --python "$python" --kernels "$ci/jupyter/kernels"
  "$python" "$root/tests/notebooks/test_kernel.py" "$ci/jupyter"
  mkdir -p "$ci/notebooks"
  printf '%s\n' "$root"/tutorials/*.ipynb | xargs -P "$jobs" -I {} sh -c \
    'exec "$1" "$2" "$3" "$4" "$5/$(basename "$4")"' - "$python" "$root/tests/notebooks/run_notebook.py" "$ci/jupyter" {} "$ci/notebooks"
}

stage_compile_time() {
  local compiler
  for compiler in g++ clang++-14; do
    TIMEFORMAT="$compiler: a file that includes <mezzo/mezzo.hpp> compiles in %U s (user), %R s (real)"
    time $compiler -std=c++17 -I "$ci/prefix/include" -c "$root/tests/consumer/main.cpp" -o /dev/null &
  done
  wait -n
  wait -n
}

# Sanitizers, the second compiler, the second oneDNN and the static library, in one build for two stages.
configure_sanitize() {
  configure "$ci/sanitize" -DCMAKE_CXX_COMPILER="$(command -v clang++-14)" -DMEZZO_ONEDNN_ROOT="$mezzo_onednn3" \
    -DBUILD_SHARED_LIBS=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" -DMEZZO_SANITIZE=address,undefined \
    -DMEZZO_BUILD_TESTS=ON -DMEZZO_BUILD_FUZZERS=ON -DMEZZO_BUILD_TUTORIALS=OFF -DMEZZO_WERROR=ON
}

# All tests, and a project of a user's that links the static library.
stage_sanitize() {
  configure_sanitize
  compile "$ci/sanitize"
  MEZZO_TEST_SMALL=1 UBSAN_OPTIONS=print_stacktrace=1 run_tests "$ci/sanitize"
  rm -rf "$ci/static"
  cmake --install "$ci/sanitize" --prefix "$ci/static" >/dev/null
  CXXFLAGS=-fsanitize=address,undefined \
    bash "$root/tests/consumer/check.sh" "$root" "$ci/static" "$ci/consumer_static" clang++-14
}

# libFuzzer on all readers, 10 s each.
stage_fuzz() {
  configure_sanitize
  compile "$ci/sanitize" mezzo_fuzzers
  bash "$root/tests/fuzz/run.sh" "$ci/sanitize" "$ci/fuzz" -max_total_time=10
}

# ThreadSanitizer, for tests in which threads share objects. libgomp and oneDNN are not built for it, so each pool has
# one thread. Tests of fork() are left out: ThreadSanitizer does not support threads in a child.
stage_threads() {
  configure "$ci/threads" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" -DMEZZO_SANITIZE=thread \
    -DMEZZO_BUILD_TESTS=ON -DMEZZO_BUILD_TUTORIALS=OFF -DMEZZO_WERROR=ON \
    -DMEZZO_TEST_FOLDERS='^(core/test_(usage|output)|data/test_loader(_failures)?\.|training/(test_threads|callbacks/test_hooks|predictor/test_predictor_threads))'
  compile "$ci/threads" test_core test_data test_training test_training_callbacks test_training_predictor
  OMP_NUM_THREADS=1 MEZZO_TEST_SMALL=1 TSAN_OPTIONS="suppressions=$root/tests/support/tsan.supp" run_tests "$ci/threads"
}

if [ "${1:-}" = --stage ]; then
  "stage_$2"
  exit
fi

[ $# -eq 0 ] || stages=("$@")
for stage in "${stages[@]}"; do
  declare -F "stage_$stage" >/dev/null || { echo "no stage $stage; stages: $all_stages" >&2 && exit 2; }
done
# One installation serves all stages that need it.
for stage in "${stages[@]}"; do
  if [[ $with_install == *" $stage "* && " ${stages[*]} " != *" install "* ]]; then
    stages=(install "${stages[@]}")
  fi
done
bash "$root/tests/install.sh" ci
mkdir -p "$ci"

passed=0 failed=()
# report STAGE CODE SECONDS
report() {
  if [ "$2" = 0 ]; then
    passed=$((passed + 1))
    echo "== $1 passed in $3 s"
  else
    failed+=("$1")
    echo "== $1 FAILED in $3 s"
  fi
}

# A stage is a process of its own: in a condition, a function would not stop at its first error.
run_stage() { bash "${BASH_SOURCE[0]}" --stage "$1"; }

background=()
for stage in "${stages[@]}"; do
  if [[ $together == *" $stage "* ]]; then
    background+=("$stage")
    continue
  fi
  echo "== $stage"
  SECONDS=0 code=0
  run_stage "$stage" || code=$?
  report "$stage" "$code" "$SECONDS"
done

processes=()
for stage in "${background[@]}"; do
  {
    SECONDS=0 code=0
    run_stage "$stage" || code=$?
    echo "$code $SECONDS" >"$ci/$stage.result"
  } >"$ci/$stage.log" 2>&1 &
  processes+=($!)
done
for index in "${!background[@]}"; do
  stage=${background[index]}
  echo "== $stage"
  wait "${processes[index]}"
  cat "$ci/$stage.log"
  read -r code seconds <"$ci/$stage.result"
  report "$stage" "$code" "$seconds"
done

[ ${#failed[@]} -eq 0 ] || echo "failed: ${failed[*]}"
echo "$passed passed, ${#failed[@]} failed"
[ ${#failed[@]} -eq 0 ]
