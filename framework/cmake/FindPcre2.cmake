# Finds PCRE2 for texts in bytes, whose package has no configuration file in Debian 12. Defines Pcre2::Pcre2.

include("${CMAKE_CURRENT_LIST_DIR}/MezzoFindLibrary.cmake")
mezzo_find_library(Pcre2 pcre2.h pcre2-8)
