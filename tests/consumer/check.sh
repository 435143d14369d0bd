#!/usr/bin/env bash
# check.sh ROOT PREFIX FOLDER COMPILER: a project of a user's finds the mezzo in PREFIX with CMake and with pkg-config,
# compiles as C++17 in FOLDER, and runs. Each header of the installation is one that the gathering headers reach.
set -euo pipefail
root=$1 prefix=$2 folder=$3 compiler=$4
source=$root/tests/consumer
rm -rf "$folder"
cmake -S "$source" -B "$folder" -G Ninja --log-level=WARNING -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$folder" -- --quiet
"$folder/consumer"
"$folder/consumer_pedantic"
"$folder/custom_ops"
"$folder/types"
"$folder/consumer_xtensor"
"$folder/consumer_eigen"
(cd "$folder" && ./consumer_onnx)
"$folder/consumer_c"

mkdir "$folder/unknown"
cat >"$folder/unknown/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.22)
project(unknown LANGUAGES CXX)
find_package(mezzo REQUIRED COMPONENTS xtensor xtensors)
PROJECT
if text=$(cmake -S "$folder/unknown" -B "$folder/unknown/build" -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_PREFIX_PATH="$prefix" 2>&1) ||
  ! tr -s ' \n' ' ' <<<"$text" | grep -q 'by package: Unknown component "xtensors", known ones: xtensor, eigen, onnx, c'; then
  echo "check.sh: an unknown component must be named; got $text"
  exit 1
fi

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
read -ra flags <<<"${CXXFLAGS:-} $(pkg-config --cflags --libs mezzo | tr '\n' ' ')"
"$compiler" -std=c++17 -Wall -Wextra -Werror "$source/main.cpp" -o "$folder/consumer_pkgconfig" "${flags[@]}" \
  -Wl,-rpath,"$prefix/lib"
"$folder/consumer_pkgconfig"

read -ra flags <<<"$(pkg-config --cflags --libs mezzo-c | tr '\n' ' ')"
"$compiler" ${CXXFLAGS:-} -x c -std=c99 -Wall -Wextra -Werror -pedantic "$source/c_interface.cpp" -x none \
  -o "$folder/consumer_c_pkgconfig" "${flags[@]}" -Wl,-rpath,"$prefix/lib"
"$folder/consumer_c_pkgconfig"

others=(-isystem /usr/include/eigen3 -isystem /usr/include/opencv4)
reached=$("$compiler" -std=c++17 -M -I "$prefix/include" "${others[@]}" -x c++ - <<'HEADERS' | tr ' ' '\n' |
#include <mezzo/mezzo.hpp>
#include <mezzo/c/mezzo.h>
#include <mezzo/report/display/notebook.hpp>
#include <mezzo/eigen.hpp>
#include <mezzo/opencv.hpp>
#include <mezzo/onnx.hpp>
#include <mezzo/xtensor.hpp>
HEADERS
  grep "^$prefix/include/mezzo/" | sort -u)
if ! diff <(find "$prefix/include/mezzo" -type f | sort) <(echo "$reached"); then
  echo "check.sh: the installed headers (<) are not those that a program can reach (>)"
  exit 1
fi
