# What holds for every target of the project: build type, ccache, warnings, sanitizers.

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  find_program(MEZZO_CCACHE ccache)
  mark_as_advanced(MEZZO_CCACHE)
  if(MEZZO_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${MEZZO_CCACHE}")
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

include(GNUInstallDirs)

if(MEZZO_SANITIZE)
  add_compile_options(-fsanitize=${MEZZO_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MEZZO_SANITIZE})
  # GCC's flow warnings misfire on instrumented code.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

# Gives `target` the project's flags; the library's own code and the tests are C++20.
function(mezzo_target_defaults target)
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  # Contraction would make a result depend on which ISA a file is compiled for.
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wshadow -fno-math-errno -ffp-contract=off $<$<BOOL:${MEZZO_WERROR}>:-Werror>
    # GCC 12 misfires on std::string's operator+ (GCC bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
endfunction()
