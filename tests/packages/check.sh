#!/usr/bin/env bash
# check.sh ROOT PACKAGES FOLDER: the Debian packages in the folder PACKAGES, in a bare Debian 12 in FOLDER, which is
# deleted in the end. lintian finds no error; apt installs them with what they depend on; programs of users compile with
# pkg-config and with CMake, and run, also limited to SSE2; a purge leaves no file behind. Needs root and mmdebstrap.
set -euo pipefail
root=$1 packages=$2 folder=$3
if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap >/dev/null; then
  echo "packages: SKIPPED, since making a bare Debian needs root and mmdebstrap"
  exit 0
fi
lintian --allow-root --fail-on error --suppress-tags initial-upload-closes-no-bugs,maintscript-calls-ldconfig,shared-library-lacks-version \
  "$packages"/*.deb

rm -rf "$folder"
trap 'rm -rf --one-file-system "$folder"' EXIT
if ! mmdebstrap --quiet --variant=minbase --include=g++,make,cmake,pkg-config bookworm "$folder" 2>"$folder.log"; then
  echo "packages: SKIPPED, since a bare Debian can't be made here: $(tail -n 1 "$folder.log")"
  exit 0
fi
inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive chroot "$folder" "$@"; }
# Without temporary files, what apt and dpkg keep for themselves, and what adduser of other packages leaves.
files() { (cd "$folder" && find . -xdev ! -path './tmp/*' ! -path './proc/*' ! -path './dev/*' \
  ! -path './var/lib/apt/*' ! -path './var/lib/dpkg/*' ! -path './var/cache/*' ! -path './var/log/*' \
  ! -path './run/*' ! -path './etc/*-' | sort); }

inside apt-get -qq update
files >"$folder/tmp/before"
mkdir "$folder/tmp/packages" "$folder/tmp/project"
cp "$packages"/*.deb "$folder/tmp/packages"
inside sh -c 'apt-get -qq install -y --no-install-recommends /tmp/packages/*.deb' >"$folder/tmp/apt.log" 2>&1 ||
  { tail -n 20 "$folder/tmp/apt.log" && exit 1; }
inside dpkg-query -W -f '${Package} ${Version}\n' '*mezzo*'

cp "$root/tests/consumer/"{main,types,onnx,c_interface}.cpp "$folder/tmp/project"
cat >"$folder/tmp/project/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES CXX)
find_package(mezzo 0.2 REQUIRED COMPONENTS onnx c)
foreach(name types onnx c_interface)
  add_executable(${name} ${name}.cpp)
  target_compile_features(${name} PRIVATE cxx_std_17)
endforeach()
target_link_libraries(types PRIVATE mezzo::mezzo)
target_link_libraries(onnx PRIVATE mezzo::onnx)
target_link_libraries(c_interface PRIVATE mezzo::c)
PROJECT
inside sh -euc 'cd /tmp/project
  g++ -std=c++17 main.cpp -o main $(pkg-config --cflags --libs mezzo)
  ./main | tail -n 1
  MEZZO_MAX_ISA=SSE2 ONEDNN_MAX_CPU_ISA=SSE41 ./main | tail -n 1
  cmake -S . -B build >/dev/null
  cmake --build build --parallel 2 >/dev/null
  build/types
  build/onnx
  build/c_interface
  mezzo --version
  MEZZO_MAX_ISA=SSE2 mezzo env
  zcat /usr/share/man/man1/mezzo.1.gz | grep -q "^.TH MEZZO 1"
  ls /usr/lib/x86_64-linux-gnu/libmezzo_mpi.so /usr/lib/x86_64-linux-gnu/libmezzo_sentencepiece.so >/dev/null'

inside sh -c "apt-get -qq purge -y '?installed?name(mezzo)' && apt-get -qq autoremove --purge -y" >"$folder/tmp/apt.log" 2>&1 ||
  { tail -n 20 "$folder/tmp/apt.log" && exit 1; }
if ! diff "$folder/tmp/before" <(files) || inside dpkg-query -W '*mezzo*' 2>/dev/null; then
  echo "check.sh: the packages leave files behind (>) or take files away (<)"
  exit 1
fi
echo "packages: installed, used and removed; no file is left"
