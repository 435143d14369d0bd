# Finds yaml-cpp for configurations in YAML, whose own package file names its target by version. Defines
# YamlCpp::YamlCpp.

find_path(YamlCpp_INCLUDE_DIR yaml-cpp/yaml.h)
find_library(YamlCpp_LIBRARY yaml-cpp)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(YamlCpp REQUIRED_VARS YamlCpp_LIBRARY YamlCpp_INCLUDE_DIR)
mark_as_advanced(YamlCpp_INCLUDE_DIR YamlCpp_LIBRARY)

if(YamlCpp_FOUND AND NOT TARGET YamlCpp::YamlCpp)
  add_library(YamlCpp::YamlCpp UNKNOWN IMPORTED)
  set_target_properties(YamlCpp::YamlCpp PROPERTIES
    IMPORTED_LOCATION "${YamlCpp_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${YamlCpp_INCLUDE_DIR}")
endif()
