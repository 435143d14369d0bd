#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <mezzo/core/dtype.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/io/open_file.hpp>

namespace mezzo::detail {

/// A `.npy` array whose rows are read from the file when they are needed. Thread-safe.
class NpyFile {
 public:
  /// Checks header and size. A FileError as load_npy() throws; also for an array in Fortran order or without axes.
  NpyFile(const std::string& path, const std::string& where);

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }

  /// Reads row `index` of axis 0. A FileError if the file was changed or cut after it was opened, or if an element is
  /// not a bool.
  void read_row(std::int64_t index, void* to) const;

 private:
  OpenFile file_;
  std::string where_;
  DType dtype_ = DType::float32;
  Shape shape_;
  std::uint64_t begin_ = 0;  // of the elements
  std::uint64_t row_bytes_ = 0;
};

}  // namespace mezzo::detail
