# Finds HDF5's C library as Debian 12 has it, in the serial form. Defines LibHdf5::LibHdf5, without include folders:
# mezzo/io/hdf5_* alone include its headers, from LibHdf5_INCLUDE_DIR.

find_path(LibHdf5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(LibHdf5_LIBRARY NAMES hdf5_serial hdf5)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibHdf5 REQUIRED_VARS LibHdf5_LIBRARY LibHdf5_INCLUDE_DIR)
mark_as_advanced(LibHdf5_INCLUDE_DIR LibHdf5_LIBRARY)

if(LibHdf5_FOUND AND NOT TARGET LibHdf5::LibHdf5)
  add_library(LibHdf5::LibHdf5 UNKNOWN IMPORTED)
  set_target_properties(LibHdf5::LibHdf5 PROPERTIES IMPORTED_LOCATION "${LibHdf5_LIBRARY}")
endif()
