#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <tiffio.h>

#include <mezzo/io/file.hpp>

namespace mezzo::image::detail {

/// A TIFF file in memory, opened by libtiff. The bytes must outlive it.
class TiffFile {
 public:
  /// Reads the directory of the first picture. Throws a FileError with libtiff's reason.
  TiffFile(const mezzo::detail::Bytes& bytes, const std::string& name);
  TiffFile(const TiffFile&) = delete;
  TiffFile& operator=(const TiffFile&) = delete;

  TIFF* get() const { return tiff_.get(); }

  /// Number of a field, or its default in the format, or `otherwise`.
  std::uint16_t number(std::uint32_t tag, std::uint16_t otherwise = 0) const;
  std::uint32_t large_number(std::uint32_t tag, std::uint32_t otherwise) const;

  /// Throws a FileError with the first error that libtiff has reported, or `otherwise`.
  [[noreturn]] void refuse(const char* otherwise) const;

  const std::string& name() const { return name_; }

 private:
  /// Bytes, position and last error of the callbacks of libtiff.
  struct Source {
    const mezzo::detail::Bytes* bytes;
    std::uint64_t at;
    char reason[200];
  };

  static tmsize_t read(thandle_t handle, void* to, tmsize_t count);
  static toff_t seek(thandle_t handle, toff_t offset, int from);
  static int report(TIFF* tiff, void* source, const char* module, const char* format, va_list arguments);

  const std::string& name_;
  Source source_;
  std::unique_ptr<TIFF, decltype(&TIFFClose)> tiff_;
};

}  // namespace mezzo::image::detail
