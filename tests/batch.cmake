# Writes a source file that compiles several test files at once, which takes a fraction of the time:
# cmake -DROOT=<tests folder> -DOUTPUT=<file> -DSOURCES=<paths below ROOT> -P batch.cmake
#
# Each test file is included in a namespace of its own, so that helpers of one do not collide with those of another.
# Headers come first, outside of the namespaces; their include guards skip them afterwards.

cmake_policy(VERSION 3.22)
set(headers)
set(parts)
foreach(source IN LISTS SOURCES)
  get_filename_component(folder "${source}" DIRECTORY)
  get_filename_component(name "${source}" NAME_WE)
  file(STRINGS "${ROOT}/${source}" includes REGEX "^#include ")
  foreach(include IN LISTS includes)
    if(include MATCHES "\"(.*)\"")
      if(EXISTS "${ROOT}/${folder}/${CMAKE_MATCH_1}")
        set(include "#include \"${folder}/${CMAKE_MATCH_1}\"")
      endif()
    endif()
    list(APPEND headers "${include}")
  endforeach()
  string(APPEND parts "namespace ${name} {\n#include \"${source}\"\n}\n")
endforeach()
list(REMOVE_DUPLICATES headers)
list(JOIN headers "\n" headers)
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "@headers@\n\n@parts@" @ONLY)
