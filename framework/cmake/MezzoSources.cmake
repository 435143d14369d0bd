# Which files make up the library, and the `mezzo/` include folder of the build tree.

set(MEZZO_SOURCE_ROOTS framework models datasets)

# Sets `out` to the library's sources; kernels compiled per ISA (*.isa.cpp) and the program are apart.
function(mezzo_library_sources out)
  set(sources)
  foreach(root IN LISTS MEZZO_SOURCE_ROOTS)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${root}/*.cpp")
    list(APPEND sources ${found})
  endforeach()
  list(FILTER sources EXCLUDE REGEX "/framework/cli/")
  list(FILTER sources EXCLUDE REGEX "\\.isa\\.cpp$")
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# Makes `folder`/mezzo out of symbolic links, so that <mezzo/layers/dense.hpp> is framework/layers/dense.hpp.
function(mezzo_link_headers folder)
  file(GLOB entries CONFIGURE_DEPENDS LIST_DIRECTORIES true
    "${PROJECT_SOURCE_DIR}/framework/*" "${PROJECT_SOURCE_DIR}/models" "${PROJECT_SOURCE_DIR}/datasets")
  file(MAKE_DIRECTORY "${folder}/mezzo")
  file(GLOB old_links "${folder}/mezzo/*")
  foreach(link IN LISTS old_links)
    if(NOT EXISTS "${link}")
      file(REMOVE "${link}")
    endif()
  endforeach()
  foreach(entry IN LISTS entries)
    get_filename_component(name "${entry}" NAME)
    if(NOT name STREQUAL "cmake" AND (IS_DIRECTORY "${entry}" OR name MATCHES "\\.hpp$"))
      file(CREATE_LINK "${entry}" "${folder}/mezzo/${name}" SYMBOLIC)
    endif()
  endforeach()
endfunction()

# Installs the public headers: all but those in detail/, compiler/, backends/ and cli/.
function(mezzo_install_headers)
  set(destination "${CMAKE_INSTALL_INCLUDEDIR}/mezzo")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/framework/" DESTINATION "${destination}"
    FILES_MATCHING PATTERN "*.hpp"
    PATTERN "detail" EXCLUDE PATTERN "cmake" EXCLUDE
    REGEX "/framework/(compiler|backends|cli)$" EXCLUDE)
  foreach(root models datasets)
    if(EXISTS "${PROJECT_SOURCE_DIR}/${root}")
      install(DIRECTORY "${PROJECT_SOURCE_DIR}/${root}" DESTINATION "${destination}"
        FILES_MATCHING PATTERN "*.hpp" PATTERN "detail" EXCLUDE)
    endif()
  endforeach()
endfunction()
