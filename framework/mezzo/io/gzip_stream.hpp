#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <mezzo/io/open_file.hpp>

namespace mezzo::detail {

/// Decompresses a gzip file piece by piece, in constant memory. Contents of several members are concatenated.
class GzipStream {
 public:
  /// The file must outlive the stream.
  GzipStream(const OpenFile& file, std::string where);
  ~GzipStream();
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  /// Decompresses the next `count` bytes, or fewer at the end of the content. Returns their number. Throws a FileError
  /// that starts with `where` if the file is truncated, corrupt, or followed by other bytes.
  std::size_t read(char* to, std::size_t count);

 private:
  struct State;
  void refill();

  const OpenFile& file_;
  const std::string where_;
  std::unique_ptr<State> state_;
};

}  // namespace mezzo::detail
