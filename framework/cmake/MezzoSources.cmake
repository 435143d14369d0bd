# The library's source files and public headers.

set(MEZZO_SOURCE_ROOTS framework models datasets)  # the include roots: <mezzo/...> is a path below one of them

# Sets `out` to the library's sources, without kernels compiled per ISA (*.isa.cpp), the command and the plug-in for MPI.
function(mezzo_library_sources out)
  set(sources)
  foreach(root IN LISTS MEZZO_SOURCE_ROOTS)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${root}/mezzo/*.cpp")
    list(APPEND sources ${found})
  endforeach()
  list(FILTER sources EXCLUDE REGEX "/mezzo/(cli|distributed/mpi)/")
  list(FILTER sources EXCLUDE REGEX "\\.isa\\.cpp$")
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# Sets `out` to the include roots of the source tree.
function(mezzo_include_roots out)
  list(TRANSFORM MEZZO_SOURCE_ROOTS PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE roots)
  set(${out} ${roots} PARENT_SCOPE)
endfunction()

# Compiles up to MEZZO_SOURCE_BATCH sources of one folder as one translation unit of `target`, named after the folder.
function(mezzo_batch_sources target)
  if(MEZZO_SOURCE_BATCH LESS 2)
    return()
  endif()
  set(folders)
  foreach(source IN LISTS ARGN)
    get_filename_component(folder "${source}" DIRECTORY)
    list(APPEND folders "${folder}")
    list(APPEND "of_${folder}" "${source}")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    string(REGEX REPLACE "^.*/mezzo(/|$)" "" name "${folder}")
    string(MAKE_C_IDENTIFIER "mezzo_${name}" name)
    list(LENGTH "of_${folder}" count)
    math(EXPR batches "(${count} + ${MEZZO_SOURCE_BATCH} - 1) / ${MEZZO_SOURCE_BATCH}")
    set(index 0)
    foreach(source IN LISTS "of_${folder}")
      # Equal shares, so that no unit is much longer than the others.
      math(EXPR batch "${index} * ${batches} / ${count}")
      math(EXPR index "${index} + 1")
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${name}_${batch}")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
