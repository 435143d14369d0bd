# Finds oneDNN 2.6 or later: MEZZO_ONEDNN_ROOT first, then the system. Defines OneDNN::OneDNN.
#
# The package's own configuration file is not used: Debian's asks for OpenCL, and PyPI's has none.

set(_onednn_hints HINTS "${MEZZO_ONEDNN_ROOT}")
if(MEZZO_ONEDNN_ROOT)
  list(APPEND _onednn_hints NO_DEFAULT_PATH)
endif()
find_path(OneDNN_INCLUDE_DIR dnnl.hpp ${_onednn_hints} PATH_SUFFIXES include)
find_library(OneDNN_LIBRARY NAMES dnnl libdnnl.so.3 libdnnl.so.2 ${_onednn_hints} PATH_SUFFIXES lib lib64)

if(OneDNN_INCLUDE_DIR)
  foreach(header dnnl_version.h oneapi/dnnl/dnnl_version.h)
    if(EXISTS "${OneDNN_INCLUDE_DIR}/${header}")
      file(STRINGS "${OneDNN_INCLUDE_DIR}/${header}" _onednn_lines REGEX "define DNNL_VERSION_(MAJOR|MINOR|PATCH) ")
      string(REGEX REPLACE "[^0-9;]" "" _onednn_numbers "${_onednn_lines}")
      list(JOIN _onednn_numbers "." _onednn_version)
      if(_onednn_version)
        set(OneDNN_VERSION "${_onednn_version}")
      endif()
    endif()
  endforeach()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OneDNN
  REQUIRED_VARS OneDNN_LIBRARY OneDNN_INCLUDE_DIR VERSION_VAR OneDNN_VERSION)
mark_as_advanced(OneDNN_INCLUDE_DIR OneDNN_LIBRARY)

if(OneDNN_FOUND AND NOT TARGET OneDNN::OneDNN)
  add_library(OneDNN::OneDNN SHARED IMPORTED)
  set_target_properties(OneDNN::OneDNN PROPERTIES
    IMPORTED_LOCATION "${OneDNN_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${OneDNN_INCLUDE_DIR}")
endif()
