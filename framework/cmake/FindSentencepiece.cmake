# Finds libsentencepiece, whose package has no configuration file in Debian 12. Defines Sentencepiece::Sentencepiece.

find_path(Sentencepiece_INCLUDE_DIR sentencepiece_processor.h)
find_library(Sentencepiece_LIBRARY sentencepiece)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Sentencepiece REQUIRED_VARS Sentencepiece_LIBRARY Sentencepiece_INCLUDE_DIR)
mark_as_advanced(Sentencepiece_INCLUDE_DIR Sentencepiece_LIBRARY)

if(Sentencepiece_FOUND AND NOT TARGET Sentencepiece::Sentencepiece)
  add_library(Sentencepiece::Sentencepiece UNKNOWN IMPORTED)
  set_target_properties(Sentencepiece::Sentencepiece PROPERTIES
    IMPORTED_LOCATION "${Sentencepiece_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Sentencepiece_INCLUDE_DIR}")
endif()
