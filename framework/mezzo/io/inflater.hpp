#pragma once
#include <zlib.h>

#include <cstdint>
#include <new>

namespace mezzo::detail {

/// Largest ratio of content to compressed bytes that deflate reaches.
constexpr std::uint64_t most_inflation = 1032;

/// Values for Inflater: gzip data, and data without a header, as in a zip archive.
constexpr int gzip_window = 16 + MAX_WBITS, raw_window = -MAX_WBITS;

/// zlib's state of a decompression.
class Inflater {
 public:
  /// `window`: zlib's windowBits.
  explicit Inflater(int window) {
    if (inflateInit2(&stream, window) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
};

}  // namespace mezzo::detail
