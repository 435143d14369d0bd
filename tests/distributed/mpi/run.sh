#!/usr/bin/env bash
# run.sh PROGRAM PLUGIN SCENARIO RANKS: runs a scenario of mezzo_mpi_ranks under mpirun, and checks its end.
# MEZZO_MPIRUN: another mpirun, for another plug-in. Exit code 77: there is no MPI here.
# The scenario kills: ends one rank by SIGKILL at random instants, half of them inside of a save, and resumes each time.
# Masters are divided in two of four trainings. MEZZO_TEST_KILLS: number of instants, in place of 4.
set -u

program=$1 plugin=$2 scenario=$3 ranks=$4
mpirun=${MEZZO_MPIRUN:-mpirun}
if [[ ! -f $plugin ]] || ! command -v "$mpirun" > /dev/null; then
  echo "skipped: mpirun and the plug-in mezzo_mpi are needed"
  exit 77
fi
options=()
if "$mpirun" --version 2> /dev/null | grep -q "Open MPI"; then
  options=(--allow-run-as-root --oversubscribe)
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export MEZZO_MPI_PLUGIN=$plugin OMP_NUM_THREADS=1 MEZZO_TRAINER_DEFAULT_ROOT_DIR=$folder

case $scenario in
  kills) expected= ;;
  collectives | training | sharded) expected="$scenario passed with $ranks ranks" ;;
  throws) expected="rank $((ranks - 1)) has failed: the disk of this rank is full|error: the disk of this rank is full" ;;
  killed) expected="rank $((ranks - 1)) .*signal 9|Killed \(signal 9\)|rank $((ranks - 1)) has left" ;;
  interrupted) expected="interrupted by SIGTERM: resume from \"$folder/checkpoints/interrupted.ckpt\"" ;;
  model) expected="rank $((ranks - 1)) has weight \"hidden/kernel\" float32 \(4, 7\) where rank 0 has weight \"hidden/kernel\" float32 \(4, 6\)" ;;
  batches) expected="rank $((ranks - 1)) has training data: [0-9]+ batches of [0-9]+ samples for all ranks, 80 samples" ;;
  leaves) expected="rank $((ranks - 1)) has left while rank [0-9]+ waited for it" ;;
  *) echo "unknown scenario $scenario"; exit 1 ;;
esac
run() {  # SCENARIO: sets output, code and SECONDS
  SECONDS=0
  output=$(timeout 120 "$mpirun" "${options[@]}" -n "$ranks" "$program" "$1" 2>&1)
  code=$?
}
give_up() {  # TEXT
  echo "$output"
  echo "exit code $code after $SECONDS s"
  echo "$1"
  exit 1
}

if [[ $scenario == kills ]]; then
  run saving
  [[ $code == 0 && $output =~ saved:\ ([0-9]+)\ ms,\ ([0-9]+)\ calls ]] || give_up "the run that no signal ends must save"
  milliseconds=${BASH_REMATCH[1]} calls=${BASH_REMATCH[2]} wanted=${MEZZO_TEST_KILLS:-4}
  killed=0 inside=0 resumed=0 longest=0
  for ((tries = 0; killed < wanted; ++tries)); do
    ((tries < 10 * wanted)) || give_up "too few of the signals came before the end"
    rm -rf "$folder/checkpoints"
    in_save=$((2 * inside <= killed ? 1 : 0))
    if ((killed % 4 < 2)); then unset DIVIDED_MASTERS; else export DIVIDED_MASTERS=1; fi
    if ((in_save)); then  # rank 0 saves
      export KILLED_RANK=0 KILLED_AFTER=-1 KILLED_CALL=$((RANDOM % calls))
    else
      export KILLED_RANK=$((RANDOM % ranks)) KILLED_AFTER=$((RANDOM % milliseconds)) KILLED_CALL=-1
    fi
    run saving
    ((code != 0)) || continue
    instant="rank $KILLED_RANK after $KILLED_AFTER ms, at call $KILLED_CALL"
    ((SECONDS <= 30)) || give_up "all ranks must end within 30 s of a kill: $instant"
    ((longest = SECONDS > longest ? SECONDS : longest, ++killed, inside += in_save))
    if [[ -f $folder/checkpoints/last.ckpt ]]; then ((++resumed)); fi
    run resumed
    [[ $code == 0 ]] || give_up "the training must go on after a kill: $instant"
  done
  echo "$killed ranks killed, $inside in a save; the others ended within $longest s; $resumed left a checkpoint"
  exit 0
fi
run "$scenario"
echo "$output"
echo "exit code $code after $SECONDS s"
if ! grep -Eq "$expected" <<< "$output"; then
  echo "expected in the output: $expected"
  exit 1
fi
if [[ $scenario =~ ^(collectives|training|sharded)$ ]]; then
  exit $code
fi
if [[ $scenario == interrupted && ! -f $folder/checkpoints/interrupted.ckpt ]]; then
  echo "the checkpoint must exist"
  exit 1
fi
if [[ $code == 0 ]]; then
  echo "the error must reach the exit code of mpirun"
  exit 1
fi
if ((SECONDS > 30)); then
  echo "all ranks must end within 30 s"
  exit 1
fi
