#include <mezzo/io/hdf5_chunks.hpp>

#include <algorithm>
#include <functional>

#include <mezzo/io/inflater.hpp>

namespace mezzo::detail {
namespace {

constexpr int most_chunk_levels = 16;
constexpr int gzip_filter = 1, shuffle_filter = 2;

struct Chunk {
  std::uint64_t size = 0, skipped = 0;  ///< bytes in the file; filters that were not applied, as bits
  std::vector<std::uint64_t> offset{};  ///< of the first element
  std::uint64_t address = 0;
};

/// Calls `use` for the chunks of a tree.
class ChunkTree {
 public:
  ChunkTree(const Hdf5Source& source, std::size_t axes, std::function<void(const Chunk&)> use)
      : source_(source), axes_(axes), use_(std::move(use)) {}

  void visit(std::uint64_t address, int depth = 0) {
    if (depth > most_chunk_levels || ++nodes_ > source_.size() / 24) {
      fail<FileError>(source_.where(), "the chunks of an array are damaged");
    }
    Hdf5Cursor head(source_.read(address, 24), source_.where());
    head.expect("TREE");
    const std::uint64_t kind = head.number(1), level = head.number(1), count = head.number(2);
    if (kind != 1) fail<FileError>(source_.where(), "the chunks of an array are damaged");
    const std::uint64_t key = 8 + 8 * (axes_ + 1);
    Hdf5Cursor entries(source_.read(address + 24, count * (key + 8) + key), source_.where());
    for (std::uint64_t i = 0; i < count; ++i) {
      Chunk chunk;
      chunk.size = entries.number(4);
      chunk.skipped = entries.number(4);
      for (std::size_t axis = 0; axis < axes_; ++axis) chunk.offset.push_back(entries.number(8));
      entries.skip(8);
      chunk.address = entries.address();
      if (level > 0) {
        visit(chunk.address, depth + 1);
      } else {
        use_(chunk);
      }
    }
  }

 private:
  const Hdf5Source& source_;
  std::size_t axes_;
  std::function<void(const Chunk&)> use_;
  std::uint64_t nodes_ = 0;
};

/// Decompresses zlib's data of a known size.
Bytes inflated_chunk(const Bytes& packed, std::size_t size, const std::string& where) {
  Bytes out(size);
  Inflater inflater(MAX_WBITS);
  inflater.stream.next_in = const_cast<Bytef*>(packed.data());
  inflater.stream.avail_in = static_cast<uInt>(packed.size());
  inflater.stream.next_out = out.data();
  inflater.stream.avail_out = static_cast<uInt>(out.size());
  const int result = inflate(&inflater.stream, Z_FINISH);
  if (result != Z_STREAM_END || inflater.stream.avail_out != 0) {
    fail<FileError>(where, "the compressed data of an array is damaged");
  }
  return out;
}

/// Undoes the order of bytes by their place in the elements.
Bytes unshuffled(const Bytes& bytes, std::size_t element) {
  const std::size_t count = bytes.size() / element;
  Bytes out(bytes);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < element; ++k) out[i * element + k] = bytes[k * count + i];
  }
  return out;
}

/// Copies a chunk to its place in the array.
void place(const Bytes& chunk, const std::vector<std::uint64_t>& sizes, const Chunk& at, const Shape& shape,
           std::size_t element, std::uint8_t* to) {
  const std::size_t axes = shape.size();
  std::vector<std::uint64_t> index(axes, 0);
  const std::uint64_t row = sizes.back();
  const std::uint64_t rows = chunk.size() / element / row;
  for (std::uint64_t r = 0; r < rows; ++r) {
    std::uint64_t offset = 0;
    bool inside = true;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const auto size = static_cast<std::uint64_t>(shape[axis]);
      const std::uint64_t i = at.offset[axis] + index[axis];
      inside = inside && i < size;
      offset = offset * size + i;
    }
    if (inside) {
      const std::uint64_t count = std::min(row, static_cast<std::uint64_t>(shape.back()) - at.offset.back());
      std::copy_n(chunk.data() + r * row * element, count * element, to + offset * element);
    }
    for (std::size_t axis = axes - 1; axis-- > 0;) {
      if (++index[axis] < sizes[axis]) break;
      index[axis] = 0;
    }
  }
}

}  // namespace

std::uint64_t hdf5_chunk_bytes(const Hdf5Source& source, const Hdf5Object& array) {
  std::uint64_t bytes = 0;
  if (array.layout.address == hdf5_nowhere) return bytes;
  ChunkTree(source, array.layout.chunk.size(), [&](const Chunk& chunk) {
    source.check_place(chunk.address, chunk.size);
    bytes += chunk.size;
    if (bytes > source.size()) fail<FileError>(source.where(), "the chunks of an array are damaged");
  }).visit(array.layout.address);
  return bytes;
}

void read_hdf5_chunks(const Hdf5Source& source, const Hdf5Object& array, std::size_t element, std::uint8_t* to) {
  if (array.layout.address == hdf5_nowhere) return;
  const std::vector<std::uint64_t>& sizes = array.layout.chunk;
  std::uint64_t bytes = element;
  for (const std::uint64_t size : sizes) {  // each at most the array's size or 1024, as the file's visit has checked
    if (size == 0 || __builtin_mul_overflow(bytes, size, &bytes)) bytes = 0;
  }
  if (bytes == 0 || bytes > source.size() * most_inflation || bytes > (std::uint64_t{1} << 32U) - 1) {
    fail<FileError>(source.where(), "the chunks of an array are damaged");
  }
  ChunkTree(source, sizes.size(), [&](const Chunk& chunk) {
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      if (chunk.offset[axis] >= static_cast<std::uint64_t>((*array.shape)[axis])) return;
    }
    Bytes data = source.read(chunk.address, chunk.size);
    for (std::size_t i = array.filters.size(); i-- > 0;) {
      if (i < 32 && (chunk.skipped >> i & 1U) != 0) continue;
      if (array.filters[i] == gzip_filter) data = inflated_chunk(data, bytes, source.where());
      if (array.filters[i] == shuffle_filter) data = unshuffled(data, element);
    }
    if (data.size() != bytes) fail<FileError>(source.where(), "a chunk of an array must have {} bytes", bytes);
    place(data, sizes, chunk, *array.shape, element, to);
  }).visit(array.layout.address);
}

}  // namespace mezzo::detail
