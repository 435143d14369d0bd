#include <mezzo/io/idx.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <mezzo/core/error.hpp>
#include <mezzo/io/checked_bytes.hpp>
#include <mezzo/io/gzip.hpp>

namespace mezzo {
namespace {

constexpr std::uint64_t limit = std::uint64_t{4} << 30;
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

std::string hex(std::uint8_t byte) {
  char text[8];
  std::snprintf(text, sizeof text, "0x%02x", byte);
  return text;
}

void copy_swapped(const std::uint8_t* from, std::size_t count, std::size_t size, std::uint8_t* to) {
  for (std::size_t i = 0; i < count * size; i += size) std::reverse_copy(from + i, from + i + size, to + i);
}

}  // namespace

Tensor read_idx_file(const std::string& path) {
  const auto fail = [&](const std::string& text) { return FileError("[read_idx_file] \"" + path + "\": " + text); };
  const Bytes bytes = read_gzip_file(path, limit);
  if (bytes.size() < 4) {
    throw fail("must start with a magic number of 4 bytes; got " + std::to_string(bytes.size()) + " bytes");
  }
  if (bytes[0] != 0 || bytes[1] != 0) {
    throw fail("the magic number must start with two zero bytes; got " + hex(bytes[0]) + " " + hex(bytes[1]));
  }
  const auto dtype = dtype_of_code(bytes[2]);
  if (!dtype) throw fail("the type code must be 0x08, 0x09, 0x0b, 0x0c, 0x0d or 0x0e; got " + hex(bytes[2]));
  const int rank = bytes[3];
  if (rank < 1 || rank > max_rank) throw fail("the rank must lie in [1, 8]; got " + std::to_string(rank));
  const std::size_t header = 4 + 4 * static_cast<std::size_t>(rank);
  if (bytes.size() < header) {
    throw fail("the header must have " + std::to_string(header) + " bytes for rank " + std::to_string(rank) + "; got " +
               std::to_string(bytes.size()));
  }
  Shape shape;
  for (std::size_t at = 4; at < header; at += 4) shape.push_back(big_endian(bytes.data() + at));
  const auto expected = detail::checked_bytes(shape, *dtype);
  const std::uint64_t received = bytes.size() - header;
  if (expected != received) {
    throw fail(dtype_name(*dtype) + (" " + to_string(shape)) + " must have " +
               (expected ? std::to_string(*expected) : "2^64 or more") + " bytes of data; got " +
               std::to_string(received));
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
