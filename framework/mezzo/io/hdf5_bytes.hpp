#pragma once
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/file.hpp>

// Bytes of an HDF5 file. The format is "HDF5 File Format Specification Version 3.0" of The HDF Group.
namespace mezzo::detail {

/// Address of nothing.
constexpr std::uint64_t hdf5_nowhere = ~std::uint64_t{0};

/// A file or an image of one in memory. Throws FileErrors that start with `where`.
class Hdf5Source {
 public:
  using Read = std::function<void(std::uint64_t offset, void* to, std::uint64_t count)>;

  Hdf5Source(std::uint64_t size, Read read, std::string where)
      : size_(size), read_(std::move(read)), where_(std::move(where)) {}

  std::uint64_t size() const { return size_; }
  const std::string& where() const { return where_; }

  void check_place(std::uint64_t offset, std::uint64_t count) const {
    if (offset <= size_ && count <= size_ - offset) return;
    fail<FileError>(where_, "{} bytes at {} must be in the file of {} bytes: it is damaged", count, offset, size_);
  }

  void read(std::uint64_t offset, void* to, std::uint64_t count) const {
    check_place(offset, count);
    if (count > 0) read_(offset, to, count);
  }

  Bytes read(std::uint64_t offset, std::uint64_t count) const {
    check_place(offset, count);  // before memory is taken
    Bytes out(count);
    read(offset, out.data(), count);
    return out;
  }

 private:
  std::uint64_t size_;
  Read read_;
  std::string where_;
};

/// Reads numbers from bytes one after the other. Throws a FileError at their end.
class Hdf5Cursor {
 public:
  Hdf5Cursor(Bytes bytes, std::string where) : bytes_(std::move(bytes)), where_(std::move(where)) {}

  std::size_t left() const { return bytes_.size() - at_; }

  /// A number of up to 8 bytes.
  std::uint64_t number(std::size_t count) {
    const std::uint8_t* const from = take(count);
    return little_endian(from, count);
  }
  std::uint64_t address() { return number(8); }
  std::size_t size() { return static_cast<std::size_t>(number(8)); }

  void skip(std::size_t count) { take(count); }

  Bytes bytes(std::size_t count) {
    const std::uint8_t* const from = take(count);
    return {from, from + count};
  }

  /// A text of that many bytes, up to its zero.
  std::string text(std::size_t count) {
    const Bytes all = bytes(count);
    const std::string out(all.begin(), all.end());
    return out.substr(0, out.find('\0'));
  }

  void expect(const char* signature) {
    const std::size_t count = std::strlen(signature);
    if (std::memcmp(take(count), signature, count) != 0) {
      fail<FileError>(where_, "a part of the file must start with \"{}\": it is damaged", signature);
    }
  }

 private:
  const std::uint8_t* take(std::size_t count) {
    if (count > left()) fail<FileError>(where_, "a part of the file must have {} bytes more: it is damaged", count);
    const std::uint8_t* const from = bytes_.data() + at_;
    at_ += count;
    return from;
  }

  Bytes bytes_;
  std::string where_;
  std::size_t at_ = 0;
};

}  // namespace mezzo::detail
