#include <mezzo/io/idx.hpp>

#include <algorithm>
#include <cstring>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/checked_bytes.hpp>
#include <mezzo/io/gzip.hpp>

namespace mezzo {
namespace {

constexpr std::uint64_t limit = std::uint64_t{4} << 30;  // in bytes
constexpr int max_rank = 8;

std::optional<DType> dtype_of_code(std::uint8_t code) {
  switch (code) {
    case 0x08:
      return DType::uint8;
    case 0x09:
      return DType::int8;
    case 0x0B:
      return DType::int16;
    case 0x0C:
      return DType::int32;
    case 0x0D:
      return DType::float32;
    case 0x0E:
      return DType::float64;
    default:
      return std::nullopt;
  }
}

/// Copies `count` elements of `size` bytes in reversed byte order.
void copy_swapped(const std::uint8_t* from, std::size_t count, std::size_t size, std::uint8_t* to) {
  for (std::size_t i = 0; i < count * size; i += size) std::reverse_copy(from + i, from + i + size, to + i);
}

}  // namespace

Tensor read_idx_file(const std::string& path) {
  const std::string where = fmt::format("[read_idx_file] \"{}\":", path);
  const Bytes bytes = read_gzip_file(path, limit);
  if (bytes.size() < 4) {
    fail<FileError>(where, "must start with a magic number of 4 bytes; got {} bytes", bytes.size());
  }
  if (bytes[0] != 0 || bytes[1] != 0) {
    fail<FileError>(where, "the magic number must start with two zero bytes; got {:#04x} {:#04x}", bytes[0], bytes[1]);
  }
  const auto dtype = dtype_of_code(bytes[2]);
  if (!dtype) {
    fail<FileError>(where, "the type code must be 0x08, 0x09, 0x0b, 0x0c, 0x0d or 0x0e; got {:#04x}", bytes[2]);
  }
  const int rank = bytes[3];
  if (rank < 1 || rank > max_rank) fail<FileError>(where, "the rank must lie in [1, {}]; got {}", max_rank, rank);
  const std::size_t header = 4 + 4 * static_cast<std::size_t>(rank);
  if (bytes.size() < header) {
    fail<FileError>(where, "the header must have {} bytes for rank {}; got {}", header, rank, bytes.size());
  }
  Shape shape;
  for (std::size_t at = 4; at < header; at += 4) shape.push_back(big_endian(bytes.data() + at));
  const auto expected = detail::checked_bytes(shape, *dtype);
  const std::uint64_t received = bytes.size() - header;
  if (expected != received) {
    fail<FileError>(where, "{} {} must have {} bytes of data; got {}", *dtype, shape, detail::describe_bytes(expected),
                    received);
  }
  Tensor out = Tensor::uninitialized(std::move(shape), *dtype);
  const std::size_t size = dtype_size(*dtype);
  auto* to = static_cast<std::uint8_t*>(out.mutable_raw());
  if (size == 1) {
    std::memcpy(to, bytes.data() + header, received);
  } else {
    copy_swapped(bytes.data() + header, static_cast<std::size_t>(out.size()), size, to);
  }
  return out;
}

}  // namespace mezzo
