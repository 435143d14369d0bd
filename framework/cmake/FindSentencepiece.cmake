# Finds libsentencepiece, whose package has no configuration file in Debian 12. Defines Sentencepiece::Sentencepiece.

include("${CMAKE_CURRENT_LIST_DIR}/MezzoFindLibrary.cmake")
mezzo_find_library(Sentencepiece sentencepiece_processor.h sentencepiece)
