#!/usr/bin/env bash
# Installs what is missing, builds the library and tutorials/quickstart.cpp, and runs it. The library has kernels for
# this machine's instruction set alone. It is built in build-quickstart/ (or MEZZO_BUILD_DIR), so that no other build
# becomes one that runs on such machines only.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tests/support/common.sh"
build=${MEZZO_BUILD_DIR:-$root/build-quickstart}

bash "$root/tests/install.sh" quickstart
configure "$build" -DMEZZO_KERNELS=native
compile "$build" quickstart
exec "$build/tutorials/quickstart" "$@"
