# Packages of Debian, made by CPack: cmake --build FOLDER --target package, in a folder that was configured with
# -DCMAKE_INSTALL_PREFIX=/usr. docs/packages.md lists them.

set(MEZZO_MAINTAINER "The mezzo authors <mezzo@example.org>" CACHE STRING "Maintainer of Debian's packages")

set(MEZZO_PACKAGING "${PROJECT_SOURCE_DIR}/framework/packaging/debian")

# mezzo_package(COMPONENT NAME SECTION DEPENDS SUMMARY DETAILS): the package NAME of an installation's component. The
# libraries outside of mezzo that it needs are found by dpkg-shlibdeps.
function(mezzo_package component name section depends summary details)
  string(TOUPPER ${component} key)
  set(prefix CPACK_DEBIAN_${key})
  foreach(pair "PACKAGE_NAME=${name}" "FILE_NAME=DEB-DEFAULT" "PACKAGE_SECTION=${section}" "PACKAGE_DEPENDS=${depends}")
    string(REGEX MATCH "^[A-Z_]+" field "${pair}")
    string(REGEX REPLACE "^[A-Z_]+=" "" value "${pair}")
    set(${prefix}_${field} "${value}" PARENT_SCOPE)
  endforeach()
  set(${prefix}_DESCRIPTION "${summary}\n${details}" PARENT_SCOPE)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
  set(documents "share/doc/${name}")
  install(FILES "${MEZZO_PACKAGING}/copyright" "${CMAKE_CURRENT_BINARY_DIR}/debian/changelog.Debian.gz"
    DESTINATION "${documents}" COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

# Tells dpkg that the package `name` of `component` has the shared library libSTEM.so.SOVERSION: programs that link it
# depend on the package.
macro(mezzo_package_library component name stem soversion)
  string(TOUPPER ${component} key)
  set(control "${CMAKE_CURRENT_BINARY_DIR}/debian/${component}")
  file(WRITE "${control}/shlibs" "lib${stem} ${soversion} ${name} (>= ${PROJECT_VERSION})\n")
  file(WRITE "${control}/triggers" "activate-noawait ldconfig\n")
  set(CPACK_DEBIAN_${key}_PACKAGE_CONTROL_EXTRA "${control}/shlibs;${control}/triggers")
endmacro()

# The changelog of the packages and the command's page for man, compressed as Debian wants them.
function(mezzo_package_documents)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/debian")
  file(MAKE_DIRECTORY "${folder}")
  configure_file("${MEZZO_PACKAGING}/changelog.in" "${folder}/changelog.Debian" @ONLY)
  execute_process(COMMAND "${MEZZO_GZIP}" -9nkf "${folder}/changelog.Debian" COMMAND_ERROR_IS_FATAL ANY)
  if(TARGET mezzo_cli)
    set(writer "${PROJECT_SOURCE_DIR}/framework/cmake/WriteManPage.cmake")
    add_custom_command(OUTPUT "${folder}/mezzo.1.gz" DEPENDS mezzo_cli "${writer}"
      COMMAND "${CMAKE_COMMAND}" -D "command=$<TARGET_FILE:mezzo_cli>" -D "page=${folder}/mezzo.1"
        -D "version=${PROJECT_VERSION}" -P "${writer}"
      COMMAND "${MEZZO_GZIP}" -9nkf "${folder}/mezzo.1" VERBATIM)
    add_custom_target(mezzo_man_page ALL DEPENDS "${folder}/mezzo.1.gz")
    install(FILES "${folder}/mezzo.1.gz" DESTINATION share/man/man1 COMPONENT program EXCLUDE_FROM_ALL)
  endif()
endfunction()

# Configures CPack. A folder with another prefix has no packages: its paths would not be Debian's.
function(mezzo_packages)
  find_program(MEZZO_GZIP gzip)
  find_program(MEZZO_SHLIBDEPS dpkg-shlibdeps)
  mark_as_advanced(MEZZO_GZIP MEZZO_SHLIBDEPS)
  if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr" OR NOT MEZZO_GZIP OR NOT MEZZO_SHLIBDEPS)
    return()
  endif()
  set(MEZZO_PACKAGE_VERSION "${PROJECT_VERSION}-1")
  mezzo_package_documents()
  set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  set(exact "(= ${MEZZO_PACKAGE_VERSION})")
  set(library libmezzo${soversion})
  get_target_property(abi mezzo_c SOVERSION)
  set(development "${library} ${exact}, libmezzo-c${abi} ${exact}")
  set(about "mezzo trains neural networks on CPUs, with the interface of Keras and
Lightning. Precision is a policy: the same model trains in float32,
bfloat16 or float16.

")

  mezzo_package(library ${library} libs "" "framework to train neural networks: library" "${about}This package has the shared library. It chooses its kernels at run time\nand works on any x86-64 CPU.")
  mezzo_package(c libmezzo-c${abi} libs "${library} ${exact}" "framework to train neural networks: library for C" "${about}This package has the shared library of the interface for C, whose ABI is\nstable.")
  if(TARGET mezzo_onnx)
    mezzo_package(onnx libmezzo-onnx${soversion} libs "${library} ${exact}" "framework to train neural networks: ONNX files" "${about}This package has the shared library that reads and writes ONNX files.")
    string(APPEND development ", libmezzo-onnx${soversion} ${exact}")
  endif()
  if(TARGET mezzo_sentencepiece)
    mezzo_package(sentencepiece libmezzo-sentencepiece libs "${library} ${exact}" "framework to train neural networks: SentencePiece" "${about}This package has the plug-in for the tokenizers of SentencePiece.")
  endif()
  if(TARGET mezzo_mpi)
    mezzo_package(mpi libmezzo-mpi libs "${library} ${exact}" "framework to train neural networks: Open MPI" "${about}This package has the plug-in for trainings on several machines.")
  endif()
  mezzo_package(development libmezzo-dev libdevel "${development}" "framework to train neural networks: headers" "${about}This package has the headers, and the files for CMake and pkg-config.")
  if(TARGET mezzo_cli)
    set(needed "${library} ${exact}")
    if(TARGET mezzo_onnx)
      string(APPEND needed ", libmezzo-onnx${soversion} ${exact}")
    endif()
    mezzo_package(program mezzo science "${needed}" "framework to train neural networks: command" "${about}This package has the command mezzo.")
  endif()
  mezzo_package_library(library ${library} mezzo ${soversion})
  mezzo_package_library(c libmezzo-c${abi} mezzo_c ${abi})
  if(TARGET mezzo_onnx)
    mezzo_package_library(onnx libmezzo-onnx${soversion} mezzo_onnx ${soversion})
  endif()
  foreach(plugin IN ITEMS SENTENCEPIECE MPI)
    set(CPACK_DEBIAN_${plugin}_PACKAGE_CONTROL_EXTRA "${CMAKE_CURRENT_BINARY_DIR}/debian/library/triggers")
  endforeach()
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libxtensor-dev, libeigen3-dev, libopencv-core-dev")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS "libmezzo-mpi, libmezzo-sentencepiece, dataset-fashion-mnist")

  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_NAME mezzo)
  set(CPACK_PACKAGE_VENDOR "The mezzo authors")
  set(CPACK_PACKAGE_CONTACT "${MEZZO_MAINTAINER}")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
  set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
  set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
  set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${MEZZO_MAINTAINER}")
  set(CPACK_PACKAGE_DIRECTORY "${CMAKE_BINARY_DIR}/packages")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_GROUPING IGNORE)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_CURRENT_BINARY_DIR}")
  set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
  set(CPACK_VERBATIM_VARIABLES ON)
  include(CPack)
endfunction()
