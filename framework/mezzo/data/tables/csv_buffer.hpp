#pragma once
#include <cstddef>
#include <memory>

namespace mezzo::detail {

/// Memory for a text, which is used again for the next one. It isn't cleared.
class CsvBuffer {
 public:
  /// Memory of at least `size` bytes. Keeps the first `kept` bytes of the last one.
  char* reserve(std::size_t size, std::size_t kept = 0);

  char* data() { return bytes_.get(); }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
};

}  // namespace mezzo::detail
