# The library's source files and public headers.

set(MEZZO_SOURCE_ROOTS framework models datasets)  # the include roots: <mezzo/...> is a path below one of them

# Sets `out` to the library's sources, without kernels compiled per ISA (*.isa.cpp) and the command.
function(mezzo_library_sources out)
  set(sources)
  foreach(root IN LISTS MEZZO_SOURCE_ROOTS)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${root}/mezzo/*.cpp")
    list(APPEND sources ${found})
  endforeach()
  list(FILTER sources EXCLUDE REGEX "/mezzo/cli/")
  list(FILTER sources EXCLUDE REGEX "\\.isa\\.cpp$")
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# Sets `out` to the include roots of the source tree.
function(mezzo_include_roots out)
  list(TRANSFORM MEZZO_SOURCE_ROOTS PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE roots)
  set(${out} ${roots} PARENT_SCOPE)
endfunction()
