#include <mezzo/io/mapped_file.hpp>

#include <sys/mman.h>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

MappedFile::MappedFile(const std::string& path, const std::string& where) : file_(path, where) {
  data_ = file_.map(where);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::uint8_t*>(data_), file_.size());
}

const std::uint8_t* MappedFile::bytes(std::uint64_t offset, std::uint64_t count, const std::string& where) const {
  if (offset > size() || count > size() - offset) {
    fail<FileError>(where, "must have {} bytes at {}; the file ends at {}", count, offset, size());
  }
  file_.check_unchanged(where);
  return data_ + offset;
}

}  // namespace mezzo::detail
