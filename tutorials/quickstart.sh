#!/usr/bin/env bash
# Installs what is missing, builds the library and tutorials/quickstart.cpp, and runs it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tests/support/common.sh"

bash "$root/tests/install.sh" quickstart
configure "$build"
compile "$build" quickstart
exec "$build/tutorials/quickstart" "$@"
