# The library's source files and public headers.

set(MEZZO_SOURCE_ROOTS framework models datasets)  # the include roots: <mezzo/...> is a path below one of them

# Sets `out` to the library's sources, without kernels compiled per ISA (*.isa.cpp), the command, plug-ins, the part for
# ONNX files and the C interface.
function(mezzo_library_sources out)
  set(sources)
  foreach(root IN LISTS MEZZO_SOURCE_ROOTS)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${root}/mezzo/*.cpp")
    list(APPEND sources ${found})
  endforeach()
  list(FILTER sources EXCLUDE REGEX "/mezzo/(cli|distributed/mpi|data/text/sentencepiece|onnx|c)/")
  list(FILTER sources EXCLUDE REGEX "\\.isa\\.cpp$")
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# Sets `out` to those of the sources `ARGN` that describe and prepare steps. Their code runs once for a model, a signature
# or an epoch, not for each batch or element.
function(mezzo_setup_sources out)
  set(folders constraints initializers layers losses metrics models nn ops optimizers precision regularizers report training)
  list(JOIN folders "|" pattern)
  set(found ${ARGN})
  list(FILTER found INCLUDE REGEX "/mezzo/(${pattern})/")
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# Sets `out` to the include roots of the source tree.
function(mezzo_include_roots out)
  list(TRANSFORM MEZZO_SOURCE_ROOTS PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE roots)
  set(${out} ${roots} PARENT_SCOPE)
endfunction()

# Compiles up to MEZZO_SOURCE_BATCH of the sources `ARGN` of one folder as one translation unit of `target`. The folders
# of layers are small, and count as one. Others don't: the test structure.symbols needs objects of one folder.
function(mezzo_batch_sources target)
  if(MEZZO_SOURCE_BATCH LESS 2)
    return()
  endif()
  set(groups)
  foreach(source IN LISTS ARGN)
    get_filename_component(group "${source}" DIRECTORY)
    string(REGEX REPLACE "^.*/mezzo(/|$)" "" group "${group}")
    string(REGEX REPLACE "^layers/.*" "layers" group "${group}")
    string(MAKE_C_IDENTIFIER "mezzo_${group}" group)
    list(APPEND groups "${group}")
    list(APPEND "of_${group}" "${source}")
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    list(LENGTH "of_${group}" count)
    set(size ${MEZZO_SOURCE_BATCH})
    if(group STREQUAL "mezzo_layers" AND size GREATER 16)
      set(size 16)  # a user who changes a layer waits less than ten seconds
    endif()
    math(EXPR batches "(${count} + ${size} - 1) / ${size}")
    set(index 0)
    foreach(source IN LISTS "of_${group}")
      # Equal shares, so that no unit is much longer than the others.
      math(EXPR batch "${index} * ${batches} / ${count}")
      math(EXPR index "${index} + 1")
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}_${batch}")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
