# Finds yaml-cpp for configurations in YAML, whose own package file names its target by version. Defines
# YamlCpp::YamlCpp.

include("${CMAKE_CURRENT_LIST_DIR}/MezzoFindLibrary.cmake")
mezzo_find_library(YamlCpp yaml-cpp/yaml.h yaml-cpp)
