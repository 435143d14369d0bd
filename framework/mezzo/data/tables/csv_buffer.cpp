#include <mezzo/data/tables/csv_buffer.hpp>

#include <cstring>

namespace mezzo::detail {

char* CsvBuffer::reserve(std::size_t size, std::size_t kept) {
  if (size > size_) {
    std::unique_ptr<char[]> larger(new char[size]);
    if (kept > 0) std::memcpy(larger.get(), bytes_.get(), kept);
    bytes_ = std::move(larger);
    size_ = size;
  }
  return bytes_.get();
}

}  // namespace mezzo::detail
