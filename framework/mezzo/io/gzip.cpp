#include <mezzo/io/gzip.hpp>

#include <algorithm>
#include <new>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/inflater.hpp>

namespace mezzo {
namespace {

constexpr std::uint64_t chunk = std::uint64_t{1} << 30;  // bytes per call; zlib counts in 32 bits

uInt at_most_chunk(std::uint64_t bytes) { return static_cast<uInt>(std::min(bytes, chunk)); }

/// Size of the content as stored in the file's last four bytes, limited by the largest compression of deflate.
std::uint64_t likely_size(const detail::Bytes& bytes, std::uint64_t limit) {
  std::uint64_t stored = 0;
  for (std::size_t i = 1; i <= 4 && i <= bytes.size(); ++i) stored = (stored << 8) | bytes[bytes.size() - i];
  return std::min({stored, limit, std::uint64_t{bytes.size()} * detail::most_inflation});
}

}  // namespace

bool is_gzip(const detail::Bytes& bytes) { return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b; }

namespace {

/// Decompresses all bytes, or with `only_start` the first `limit` bytes of the content and no more.
detail::Bytes inflated(const detail::Bytes& bytes, const std::string& path, std::uint64_t limit, bool only_start) {
  const std::string where = fmt::format("[gunzip] \"{}\":", path);
  detail::Inflater inflater(detail::gzip_window);
  z_stream& stream = inflater.stream;
  // zlib reports the end only if there is room for one more byte.
  detail::Bytes out(only_start ? limit : likely_size(bytes, limit) + 1);
  std::uint64_t consumed = 0;
  std::uint64_t produced = 0;
  while (true) {
    stream.next_in = const_cast<Bytef*>(bytes.data() + consumed);
    stream.avail_in = at_most_chunk(bytes.size() - consumed);
    stream.next_out = out.data() + produced;
    stream.avail_out = at_most_chunk(out.size() - produced);
    const int result = inflate(&stream, Z_NO_FLUSH);
    consumed = static_cast<std::uint64_t>(stream.next_in - bytes.data());
    produced = static_cast<std::uint64_t>(stream.next_out - out.data());
    if (only_start && produced == limit) break;
    if (produced > limit) fail<FileError>(where, "must decompress to at most {} bytes; got more", limit);
    if (result == Z_STREAM_END) {
      if (consumed == bytes.size()) break;
      inflateReset(&stream);
    } else if (result == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      fail<FileError>(where, "must be gzip data; got other data at byte {} of {} (zlib: {})", consumed, bytes.size(),
                      stream.msg != nullptr ? stream.msg : "unknown error");
    } else if (produced == out.size()) {
      out.resize(std::min<std::uint64_t>(2 * out.size(), limit) + 1);
    } else if (consumed == bytes.size()) {
      fail<FileError>(where, "must be whole gzip data; got {} bytes, which end too early", bytes.size());
    }
  }
  out.resize(produced);
  return out;
}

}  // namespace

detail::Bytes gunzip(const detail::Bytes& bytes, const std::string& path, std::uint64_t limit) {
  return inflated(bytes, path, limit, false);
}

detail::Bytes gunzip_start(const detail::Bytes& bytes, const std::string& path, std::uint64_t count) {
  return inflated(bytes, path, count, true);
}

detail::Bytes read_gzip_file(const std::string& path, std::uint64_t limit) {
  detail::Bytes bytes = detail::read_file(path, limit);
  return is_gzip(bytes) ? gunzip(bytes, path, limit) : bytes;
}

}  // namespace mezzo
