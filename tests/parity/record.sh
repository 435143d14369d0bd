#!/usr/bin/env bash
# Records the values that tests compare with, from Keras 3 on JAX in float64: record.sh [layers | losses | ...]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=${XDG_CACHE_HOME:-$HOME/.cache}/mezzo/keras
if [ ! -e "$venv/.complete" ]; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet keras==3.15.1 jax==0.10.2
  touch "$venv/.complete"
fi
scripts=("$@")
[ $# -gt 0 ] || scripts=(initializers layers losses metrics optimizers schedules)
for script in "${scripts[@]}"; do
  "$venv/bin/python" "$here/$script.py"
done
