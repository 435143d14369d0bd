# Finds libjpeg-turbo's own interface, turbojpeg.h, whose package has no configuration file in Debian 12.
# Defines TurboJPEG::TurboJPEG.

include("${CMAKE_CURRENT_LIST_DIR}/MezzoFindLibrary.cmake")
mezzo_find_library(TurboJPEG turbojpeg.h turbojpeg)
