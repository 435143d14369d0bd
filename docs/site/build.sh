#!/usr/bin/env bash
# Builds the site from docs/*.md, the notebooks and the public headers, and checks its links: build.sh [FOLDER]. The
# default folder is build/site; open its html/index.html. Doxygen and the packages of `tests/install.sh ci` are needed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/tests/support/common.sh"
out=$(realpath -m "${1:-$build/site}")
python=${MEZZO_SITE_PYTHON:-$mezzo_site/bin/python}
[ -x "$python" ] && command -v doxygen >/dev/null || {
  echo "build.sh: doxygen and the packages of the site are missing: bash tests/install.sh ci" >&2
  exit 1
}

rm -rf "$out"
mkdir -p "$out/doxygen"
cd "$root"
{
  cat docs/site/Doxyfile.in
  echo "INPUT = $("$python" docs/site/public_headers.py "$root" | tr '\n' ' ')"
  echo "OUTPUT_DIRECTORY = \"$out/doxygen\""
} >"$out/Doxyfile"
doxygen "$out/Doxyfile" >"$out/doxygen.log" 2>&1 || { cat "$out/doxygen.log" && exit 1; }
"$python" docs/site/stage.py "$root" "$out/source"
"$python" docs/site/api_pages.py "$out/doxygen/xml" "$out/source/api"
"$python" -m sphinx -q -W --keep-going -j "$jobs" -c docs/site -d "$out/doctrees" -b html "$out/source" "$out/html"
rm -rf "$out/html/.buildinfo" "$out/html/_sources"
"$python" docs/site/check_html.py "$out/html"
echo "$out/html/index.html"
