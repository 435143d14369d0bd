#!/usr/bin/env bash
# subproject.sh ROOT FOLDER: a project that contains mezzo and sets no build type. The library's flags must optimize, its
# headers must be system headers for the project, and a file of the project must compile. The library is not built.
set -euo pipefail
root=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/source"
echo '#include <mezzo/mezzo.hpp>' >"$folder/source/parent.cpp"
cat >"$folder/source/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.22)
project(parent LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
add_subdirectory("$root" mezzo)
add_library(parent OBJECT parent.cpp)
target_compile_options(parent PRIVATE -Wall -Wextra -Wconversion -Wold-style-cast -Wuseless-cast -Werror)
target_link_libraries(parent PRIVATE mezzo::mezzo)
CMAKE
cmake -S "$folder/source" -B "$folder" -G Ninja --log-level=WARNING -Wno-dev >/dev/null
commands() { grep '"command"' "$folder/compile_commands.json" | grep -F "$1"; }

fail() { echo "subproject.sh: $1" && exit 1; }
commands /unity_mezzo_layers_0 | grep -q -- ' -O2 ' || fail "the library is not optimized"
! commands /unity_mezzo_layers_0 | grep -q -- ' -Werror' || fail "warnings in the library are errors"
commands source/parent.cpp | grep -q -- "-isystem $root/framework" || fail "the headers are not system headers"
! grep -q '/tests/batches/\|/tutorials/' "$folder/compile_commands.json" || fail "tests or tutorials are built"
cmake --build "$folder" --target parent -- --quiet
echo "a project that contains mezzo compiles"
