# Settings of every target of the project: build type, ccache, warnings, sanitizers, precompiled headers.

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  find_program(MEZZO_CCACHE ccache)
  mark_as_advanced(MEZZO_CCACHE)
  if(MEZZO_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    # Without this sloppiness ccache does not store objects that use a precompiled header.
    set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros "${MEZZO_CCACHE}")
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  option(BUILD_SHARED_LIBS "Build a shared library, not a static one" ON)
elseif(NOT DEFINED BUILD_SHARED_LIBS)
  set(BUILD_SHARED_LIBS ON)  # here only: the parent's other libraries keep CMake's default
endif()

include(GNUInstallDirs)

# A parent project without a build type would get a library without optimization.
set(MEZZO_OPTIMIZATION)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND NOT CMAKE_CXX_FLAGS MATCHES "(^| )-O")
  set(MEZZO_OPTIMIZATION -O2)
endif()

if(MEZZO_SANITIZE)
  add_compile_options(-fsanitize=${MEZZO_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MEZZO_SANITIZE})
  if(MEZZO_SANITIZE STREQUAL "address,undefined")
    # AddressSanitizer finds what these three find. They take a seventh of the time of compiling.
    add_compile_options(-fno-sanitize=null,object-size,vptr)
    # Functions with many accesses of memory call AddressSanitizer. With its checks inline, which is the default of
    # clang up to 7000 accesses, one unrolled kernel compiles for minutes.
    add_compile_options("$<$<CXX_COMPILER_ID:Clang>:SHELL:-mllvm -asan-instrumentation-with-call-threshold=30>")
  endif()
  # GCC's flow warnings misfire on instrumented code.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

# Gives `target` the project's flags. The library's own code and the tests are C++20.
function(mezzo_target_defaults target)
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  # Contraction would make a result depend on the ISA that a file is compiled for.
  target_compile_options(${target} PRIVATE ${MEZZO_OPTIMIZATION}
    -Wall -Wextra -Wshadow -fno-math-errno -ffp-contract=off $<$<BOOL:${MEZZO_WERROR}>:-Werror>
    # GCC 12 misfires on std::string's operator+ (GCC bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    # GCC collects its garbage above 512 MiB only: 7 % less processor time for up to 280 MiB more for each compiler.
    "$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=524288 --param ggc-min-expand=400>")
endfunction()

# Hides the symbols of `target`, except those marked with MEZZO_API.
function(mezzo_hide_symbols target)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# Exports from the shared library `target` only what framework/mezzo/exports.txt lists.
function(mezzo_limit_exports target)
  set(exports "${PROJECT_SOURCE_DIR}/framework/mezzo/exports.txt")
  target_link_options(${target} PRIVATE "-Wl,--version-script=${exports}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${exports}")
endfunction()

# Precompiles the standard headers that most files include, and the given ones, for `target`. They are headers of
# others only: a change of one of ours recompiles the files that include it, not all. The files include what they use;
# a build with -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON checks that.
function(mezzo_precompile_headers target)
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <cmath> <cstdint> <cstring> <functional> <limits> <map> <memory> <numeric> <optional> <set> <stdexcept> <string> <type_traits> <unordered_map> <utility> <variant> <vector>
    ${ARGN})
  # A time stamp in the precompiled header would make each of ccache's look-ups a miss.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
endfunction()
