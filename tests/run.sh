#!/usr/bin/env bash
# Installs what is missing, builds everything once (in build/, or MEZZO_BUILD_DIR) and runs all tests.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tests/support/common.sh"

bash "$root/tests/install.sh"
configure "$build" -DMEZZO_BUILD_TESTS=ON -DMEZZO_BUILD_TUTORIALS=ON -DMEZZO_WERROR=ON
compile "$build"
run_tests "$build"
