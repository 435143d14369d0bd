#pragma once
#include <vector>

#include <mezzo/io/hdf5_object.hpp>

namespace mezzo::detail {

/// Address of the header of the root group, from the start of the file. A FileError if the file is no HDF5 file, cut
/// off, or of a version that h5py doesn't write by default.
std::uint64_t hdf5_root(const Hdf5Source& source);

/// Links of a group, of the older form (a tree of names) or the newer one. At most `most`.
std::vector<Hdf5Link> hdf5_links(const Hdf5Source& source, const Hdf5Object& group, std::size_t most);

}  // namespace mezzo::detail
