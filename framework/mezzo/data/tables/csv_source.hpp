#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <mezzo/io/gzip_stream.hpp>
#include <mezzo/io/open_file.hpp>

namespace mezzo::detail {

/// Bytes of a file by position; of the content, if it is a gzip file.
class CsvSource {
 public:
  CsvSource(const std::string& path, std::string where);

  /// True if several threads can read at the same time, at any offset.
  bool is_plain() const { return !gzip_; }

  /// Upper bound of the bytes of the content.
  std::uint64_t at_most() const;

  /// Reads up to `count` bytes at `offset`; fewer at the end. Returns their number. In a gzip file, an offset before
  /// the end of the last read decompresses from the start.
  std::size_t read(std::uint64_t offset, char* to, std::size_t count);

 private:
  const std::string where_;
  const OpenFile file_;
  bool gzip_ = false;
  std::unique_ptr<GzipStream> stream_;
  std::uint64_t position_ = 0;  // of the stream
};

}  // namespace mezzo::detail
