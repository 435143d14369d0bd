# Finds libwebp and libwebpdemux, whose package has no configuration file in Debian 12. Defines WebP::WebP and
# WebP::Demux.

find_path(WebP_INCLUDE_DIR webp/demux.h)
find_library(WebP_LIBRARY webp)
find_library(WebP_DEMUX_LIBRARY webpdemux)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(WebP REQUIRED_VARS WebP_LIBRARY WebP_DEMUX_LIBRARY WebP_INCLUDE_DIR)
mark_as_advanced(WebP_INCLUDE_DIR WebP_LIBRARY WebP_DEMUX_LIBRARY)

if(WebP_FOUND AND NOT TARGET WebP::WebP)
  add_library(WebP::WebP UNKNOWN IMPORTED)
  set_target_properties(WebP::WebP PROPERTIES
    IMPORTED_LOCATION "${WebP_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${WebP_INCLUDE_DIR}")
  add_library(WebP::Demux UNKNOWN IMPORTED)
  set_target_properties(WebP::Demux PROPERTIES
    IMPORTED_LOCATION "${WebP_DEMUX_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${WebP_INCLUDE_DIR}")
endif()
