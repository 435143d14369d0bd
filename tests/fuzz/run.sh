#!/usr/bin/env bash
# Runs the fuzz targets of a build folder, as many at once as there are cores: run.sh BUILD OUT [libFuzzer's options].
# OUT gets a folder per target with its corpus, which later runs continue, its log and the inputs that it failed on.
# Prints a line per target; fails if a target does.
set -euo pipefail
build=$1 out=$2
shift 2

# run_one TARGET [options]
run_one() {
  local name=$1 folder=$out/$1 program=$build/tests/fuzz/mezzo_fuzz
  [ ! -x "${program}_$1" ] || program+=_$1
  shift
  mkdir -p "$folder/corpus"
  if UBSAN_OPTIONS=print_stacktrace=1 "$program" "$name" "$folder/corpus" -artifact_prefix="$folder/" -timeout=10 \
    -rss_limit_mb=1024 -malloc_limit_mb=256 -print_final_stats=1 "$@" >"$folder/log" 2>&1; then
    printf '%-18s %8s cases, %6s a second, peak %s MB\n' "$name" \
      "$(stat_of number_of_executed_units)" "$(stat_of average_exec_per_sec)" "$(stat_of peak_rss_mb)"
  else
    tail -n 100 "$folder/log"
    echo "$name FAILED; its log and input are in $folder"
    return 1
  fi
}

# stat_of NAME: one of libFuzzer's final figures.
stat_of() { sed -n "s/^stat::$1: *//p" "$folder/log"; }

if [ "${MEZZO_FUZZ_ONE:-}" ]; then
  run_one "$MEZZO_FUZZ_ONE" "$@"
  exit
fi
for source in "$(dirname "${BASH_SOURCE[0]}")"/fuzz_*.cpp; do
  name=$(basename "$source" .cpp)
  echo "${name#fuzz_}"
done | xargs -P "${MEZZO_JOBS:-$(nproc)}" -I{} env MEZZO_FUZZ_ONE={} bash "${BASH_SOURCE[0]}" "$build" "$out" "$@"
