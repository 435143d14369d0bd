# Finds utf8proc, whose package has no configuration file in Debian 12. Defines Utf8proc::Utf8proc.

include("${CMAKE_CURRENT_LIST_DIR}/MezzoFindLibrary.cmake")
mezzo_find_library(Utf8proc utf8proc.h utf8proc)
