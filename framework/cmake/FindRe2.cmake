# Finds RE2, whose package has no configuration file in Debian 12. Defines Re2::Re2.

include("${CMAKE_CURRENT_LIST_DIR}/MezzoFindLibrary.cmake")
mezzo_find_library(Re2 re2/re2.h re2)
