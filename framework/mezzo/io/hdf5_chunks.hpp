#pragma once
#include <mezzo/core/shape.hpp>
#include <mezzo/io/hdf5_object.hpp>

namespace mezzo::detail {

/// Sum of the bytes in the file of the chunks of an array.
std::uint64_t hdf5_chunk_bytes(const Hdf5Source& source, const Hdf5Object& array);

/// Reads an array that is stored in chunks into `to`, which has zeros.
void read_hdf5_chunks(const Hdf5Source& source, const Hdf5Object& array, std::size_t element, std::uint8_t* to);

}  // namespace mezzo::detail
