# Installation: library, command, public headers, CMake package and pkg-config file. The installed tree can be moved.

include(CMakePackageConfigHelpers)

# Sets `out` to those of `libraries` that the library is linked with: header-only ones are needed by its sources alone.
function(mezzo_linked_libraries out)
  set(linked)
  foreach(library IN LISTS ARGN)
    set(type)
    if(TARGET ${library})
      get_target_property(type ${library} TYPE)
    endif()
    if(NOT type STREQUAL INTERFACE_LIBRARY OR library STREQUAL Threads::Threads)
      list(APPEND linked ${library})
    endif()
  endforeach()
  set(${out} ${linked} PARENT_SCOPE)
endfunction()

# Sets `out` to the linker's arguments for `libraries`: "-lz -lfmt", full paths for files outside of the system.
function(mezzo_linker_arguments out)
  set(arguments)
  foreach(library IN LISTS ARGN)
    if(library STREQUAL Threads::Threads)
      list(APPEND arguments -pthread)
    elseif(NOT TARGET ${library})
      list(APPEND arguments -l${library})
    else()
      get_target_property(configurations ${library} IMPORTED_CONFIGURATIONS)
      get_target_property(file ${library} IMPORTED_LOCATION)
      foreach(configuration IN LISTS configurations)
        get_target_property(location ${library} IMPORTED_LOCATION_${configuration})
        if(NOT file)
          set(file "${location}")
        endif()
      endforeach()
      get_filename_component(folder "${file}" DIRECTORY)
      if(folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES AND file MATCHES "/lib([^/]*)\\.(so|a)[^/]*$")
        list(APPEND arguments -l${CMAKE_MATCH_1})
      else()
        list(APPEND arguments "-Wl,-rpath,${folder}" "${file}")
      endif()
    endif()
  endforeach()
  list(JOIN arguments " " arguments)
  set(${out} "${arguments}" PARENT_SCOPE)
endfunction()

# Where programs look for libraries that were installed with `target`: in the same folder, unless it is one of the
# system's. A oneDNN outside of the system is found by its path.
function(mezzo_install_rpath target rpath)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  if(NOT CMAKE_INSTALL_FULL_LIBDIR IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "${rpath}")
  endif()
endfunction()

# Installs the targets `mezzo`, linked with the given libraries, and `mezzo_cli`, if there is one, and the files that
# programs need to use them.
function(mezzo_install)
  mezzo_linked_libraries(linked ${ARGN})
  set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/mezzo")
  file(RELATIVE_PATH bin_to_lib "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  file(RELATIVE_PATH pkgconfig_to_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
  string(REGEX REPLACE "/$" "" pkgconfig_to_prefix "${pkgconfig_to_prefix}")
  set_target_properties(mezzo PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  mezzo_install_rpath(mezzo "$ORIGIN")  # the folder of the file that is loaded
  install(TARGETS mezzo EXPORT mezzo-targets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library NAMELINK_COMPONENT development
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
  install(EXPORT mezzo-targets NAMESPACE mezzo:: DESTINATION "${package_folder}" COMPONENT development)
  if(TARGET mezzo_cli)
    mezzo_install_rpath(mezzo_cli "$ORIGIN/${bin_to_lib}")
    install(TARGETS mezzo_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
    # The Jupyter kernel, which `mezzo notebook install` registers.
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/tutorials/kernel/mezzo_kernel" COMPONENT program
      DESTINATION "${CMAKE_INSTALL_DATADIR}/mezzo/kernel" FILES_MATCHING PATTERN "*.py" PATTERN "*.hpp")
  endif()

  # A program that links the static library links what that is linked with, too. The packages are named as the
  # namespaces of their targets are.
  set(static_packages)
  set(pkgconfig_flags)
  mezzo_linker_arguments(pkgconfig_private_libraries ${linked})
  set(pkgconfig_libraries)
  get_target_property(type mezzo TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    set(static_packages ${linked})
    list(FILTER static_packages INCLUDE REGEX "::")
    list(TRANSFORM static_packages REPLACE "::.*" "")
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/framework/cmake/" DESTINATION "${package_folder}"
      COMPONENT development FILES_MATCHING PATTERN "Find*.cmake" PATTERN "MezzoFindLibrary.cmake")
    set(pkgconfig_flags " -DMEZZO_STATIC")
    set(pkgconfig_libraries " -Wl,--undefined=mezzo_register ${pkgconfig_private_libraries} -lstdc++ -lm")
    set(pkgconfig_private_libraries)
  endif()
  set(templates "${PROJECT_SOURCE_DIR}/framework/cmake")
  configure_package_config_file("${templates}/mezzo-config.cmake.in" mezzo-config.cmake
    INSTALL_DESTINATION "${package_folder}")
  write_basic_package_version_file(mezzo-config-version.cmake COMPATIBILITY SameMinorVersion)
  set(config "${CMAKE_CURRENT_BINARY_DIR}/mezzo-config")
  install(FILES "${config}.cmake" "${config}-version.cmake" DESTINATION "${package_folder}"
    COMPONENT development)
  configure_file("${templates}/mezzo.pc.in" mezzo.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/mezzo.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
    COMPONENT development)

  mezzo_include_roots(include_roots)
  configure_file("${templates}/InstallHeaders.cmake.in" "${CMAKE_CURRENT_BINARY_DIR}/InstallHeaders.cmake" @ONLY)
  install(SCRIPT "${CMAKE_CURRENT_BINARY_DIR}/InstallHeaders.cmake" COMPONENT development)
endfunction()
