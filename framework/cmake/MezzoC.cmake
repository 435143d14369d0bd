# The C interface, `mezzo::c`: a library of its own. It is shared also beside a static mezzo, since other languages load
# it by name, and exports the functions of <mezzo/c/mezzo.h> alone. Its SONAME is the version of that interface, which
# outlives versions of mezzo.

set(MEZZO_C_FOLDER "${PROJECT_SOURCE_DIR}/framework/mezzo/c")

function(mezzo_add_c)
  file(GLOB sources CONFIGURE_DEPENDS "${MEZZO_C_FOLDER}/*.cpp")
  mezzo_include_roots(include_roots)
  file(STRINGS "${MEZZO_C_FOLDER}/mezzo.h" abi REGEX "MEZZO_ABI_VERSION = [0-9]+")
  string(REGEX REPLACE ".*MEZZO_ABI_VERSION = ([0-9]+).*" "\\1" abi "${abi}")
  add_library(mezzo_c SHARED ${sources})
  add_library(mezzo::c ALIAS mezzo_c)
  mezzo_target_defaults(mezzo_c)
  mezzo_hide_symbols(mezzo_c)
  set_target_properties(mezzo_c PROPERTIES EXPORT_NAME c VERSION ${abi} SOVERSION ${abi}
    LINK_DEPENDS "${MEZZO_C_FOLDER}/exports.txt")
  target_include_directories(mezzo_c
    PRIVATE ${include_roots}
    INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/framework>" $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(mezzo_c PRIVATE mezzo fmt::fmt)
  target_link_options(mezzo_c PRIVATE "-Wl,--version-script=${MEZZO_C_FOLDER}/exports.txt")
endfunction()

# Installs mezzo_c with its header. Programs find it by find_package(mezzo REQUIRED COMPONENTS c), or as the package
# mezzo-c of pkg-config.
function(mezzo_install_c)
  mezzo_install_rpath(mezzo_c "$ORIGIN")
  install(TARGETS mezzo_c EXPORT mezzo-c-targets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT c NAMELINK_COMPONENT development)
  install(EXPORT mezzo-c-targets NAMESPACE mezzo:: DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/mezzo"
    COMPONENT development)
  install(FILES "${MEZZO_C_FOLDER}/mezzo.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/mezzo/c"
    COMPONENT development)
  file(RELATIVE_PATH pkgconfig_to_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
  string(REGEX REPLACE "/$" "" pkgconfig_to_prefix "${pkgconfig_to_prefix}")
  configure_file("${PROJECT_SOURCE_DIR}/framework/cmake/mezzo-c.pc.in" mezzo-c.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/mezzo-c.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
    COMPONENT development)
endfunction()
