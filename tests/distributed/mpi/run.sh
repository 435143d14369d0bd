#!/usr/bin/env bash
# run.sh PROGRAM PLUGIN SCENARIO RANKS: runs a scenario of mezzo_mpi_ranks under mpirun, and checks its end.
# MEZZO_MPIRUN: another mpirun, for another plug-in. Exit code 77: there is no MPI here.
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
  collectives | training | sharded | resumed) expected="$scenario passed with $ranks ranks" ;;
  throws) expected="rank $((ranks - 1)) has failed: the disk of this rank is full|error: the disk of this rank is full" ;;
  killed) expected="rank $((ranks - 1)) .*signal 9|Killed \(signal 9\)|rank $((ranks - 1)) has left" ;;
  interrupted) expected="interrupted by SIGTERM: resume from \"$folder/checkpoints/interrupted.ckpt\"" ;;
  model) expected="rank $((ranks - 1)) has weight \"hidden/kernel\" float32 \(4, 7\) where rank 0 has weight \"hidden/kernel\" float32 \(4, 6\)" ;;
  batches) expected="rank $((ranks - 1)) has training data: [0-9]+ batches of [0-9]+ samples for all ranks, 80 samples" ;;
  leaves) expected="rank $((ranks - 1)) has left while rank [0-9]+ waited for it" ;;
  *) echo "unknown scenario $scenario"; exit 1 ;;
esac
if [[ $scenario == resumed ]]; then  # first a run of which a rank is killed
  KILLED_AFTER=$((RANDOM % 5)) timeout 120 "$mpirun" "${options[@]}" -n "$ranks" "$program" saving > /dev/null 2>&1
  if [[ $? == 0 || ! -f $folder/checkpoints/last.ckpt ]]; then
    echo "the first run must be killed, and leave a checkpoint"
    exit 1
  fi
fi
SECONDS=0
output=$(timeout 120 "$mpirun" "${options[@]}" -n "$ranks" "$program" "$scenario" 2>&1)
code=$?
echo "$output"
echo "exit code $code after $SECONDS s"
if ! grep -Eq "$expected" <<< "$output"; then
  echo "expected in the output: $expected"
  exit 1
fi
if [[ $scenario =~ ^(collectives|training|sharded|resumed)$ ]]; then
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
