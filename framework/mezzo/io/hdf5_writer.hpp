#pragma once
#include <memory>
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>
#include <mezzo/io/file.hpp>

namespace mezzo::detail {

/// Writes an HDF5 file in memory, as h5py does by default. Equal contents are equal files. Throws FileErrors that start
/// with `where`; an Error if the library was built without libhdf5.
class Hdf5Writer {
 public:
  explicit Hdf5Writer(const std::string& where);
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  /// Adds an array, with the groups of its path. bfloat16 is an opaque type with an attribute "dtype", as in Keras.
  void add(const std::string& path, const Tensor& numbers);

  /// Adds a text attribute to a group of an earlier array.
  void add_text(const std::string& group, const std::string& attribute, const std::string& text);

  /// Content of the file. Nothing may be added after it.
  Bytes finish();

 private:
  class Library;

  std::string where_;
  std::unique_ptr<Library> library_;
};

}  // namespace mezzo::detail
