#include <mezzo/io/idx.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/checked_bytes.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/gzip.hpp>

namespace mezzo {
namespace {

constexpr std::uint64_t limit = std::uint64_t{4} << 30;  // in bytes
constexpr int max_idx_rank = 8;

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

struct Header {
  DType dtype = DType::uint8;
  Shape shape;
  std::size_t bytes = 0;                  // of the header
  std::optional<std::uint64_t> expected;  // bytes of the elements; nullopt: 2^64 or more
};

/// Parses the header at the start of a file's content.
Header parse_header(const detail::Bytes& bytes, const std::string& where) {
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
  if (rank < 1 || rank > max_idx_rank)
    fail<FileError>(where, "the rank must lie in [1, {}]; got {}", max_idx_rank, rank);
  Header header{.dtype = *dtype, .shape = {}, .bytes = 4 + 4 * static_cast<std::size_t>(rank), .expected = {}};
  if (bytes.size() < header.bytes) {
    fail<FileError>(where, "the header must have {} bytes for rank {}; got {}", header.bytes, rank, bytes.size());
  }
  for (std::size_t at = 4; at < header.bytes; at += 4) header.shape.push_back(detail::big_endian(bytes.data() + at));
  header.expected = detail::checked_bytes(header.shape, header.dtype);
  return header;
}

/// Content of the file that starts with `header`. Decompresses only as much as the header announces.
detail::Bytes whole_content(detail::Bytes file, const Header& header, const std::string& path,
                            const std::string& where) {
  if (!is_gzip(file)) return file;
  if (!header.expected || *header.expected > limit) {
    fail<FileError>(where, "{} {} must have at most {} bytes of data; got {}", header.dtype, header.shape, limit,
                    detail::describe_bytes(header.expected));
  }
  return gunzip(file, path, header.bytes + *header.expected);
}

}  // namespace

Tensor read_idx_file(const std::string& path, const IdxCheck& check) {
  const std::string where = fmt::format("[read_idx_file] \"{}\":", path);
  constexpr std::size_t largest_header = 4 + 4 * max_idx_rank;
  detail::check_kind(path, {detail::FileKind::idx, detail::FileKind::gzip}, where,
                     "an IDX file, also compressed by gzip");
  detail::Bytes file = detail::read_file(path, limit);
  const Header header = parse_header(is_gzip(file) ? gunzip_start(file, path, largest_header) : file, where);
  if (check) check(header.dtype, header.shape);
  const detail::Bytes bytes = whole_content(std::move(file), header, path, where);
  const std::uint64_t received = bytes.size() - header.bytes;
  if (header.expected != received) {
    fail<FileError>(where, "{} {} must have {} bytes of data; got {}", header.dtype, header.shape,
                    detail::describe_bytes(header.expected), received);
  }
  Tensor out = Tensor::uninitialized(header.shape, header.dtype);
  const std::size_t size = dtype_size(header.dtype);
  auto* to = static_cast<std::uint8_t*>(out.mutable_raw());
  if (size == 1) {
    std::copy_n(bytes.data() + header.bytes, received, to);
  } else {
    copy_swapped(bytes.data() + header.bytes, static_cast<std::size_t>(out.size()), size, to);
  }
  return out;
}

}  // namespace mezzo
