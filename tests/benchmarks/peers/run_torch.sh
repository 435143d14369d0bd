#!/usr/bin/env bash
# run_torch.sh [workload ...]: runs every workload in every configuration, one after another. PY is a Python with torch,
# torchvision and IPEX, S the seconds for each run. compare.py interleaves the same runs with mezzo.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -gt 0 ] || set -- mlp cnn resnet18 minilm gptchar resnet50 bert gpt2 lstm gru
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-2}

for workload in "$@"; do
  for config in fp32 bf16 bf16+compile bf16+ipex fp32+compile; do
    line=$(timeout 300 "${PY:-python3}" "$here/torch_peer.py" "$workload" "$config" --seconds "${S:-5}" 2>/dev/null | tail -1)
    echo "${line:-{\"workload\":\"$workload\",\"config\":\"$config\",\"failed\":true\}}"
  done
done
