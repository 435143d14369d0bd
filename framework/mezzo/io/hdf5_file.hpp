#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/io/hdf5_object.hpp>

namespace mezzo::detail {

/// An array in an HDF5 file.
struct Hdf5Array {
  Shape shape{};
  DType dtype = DType::float32;
};

/// An HDF5 file, open for reading. The constructor visits all objects and refuses what Keras doesn't write: links other
/// than hard ones, external and virtual storage, filters other than gzip and shuffle, types other than numbers, forms
/// other than h5py's default, and arrays whose sizes don't fit the file. Throws FileErrors that start with `where`.
///
/// It doesn't use libhdf5: version 1.10, which Debian 12 has, writes beyond its memory for damaged files.
class Hdf5File {
 public:
  MEZZO_API Hdf5File(const std::string& path, const std::string& where);
  /// A file in memory, of which a copy is kept.
  Hdf5File(const Bytes& image, const std::string& where);
  ~Hdf5File() = default;
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  /// Arrays by their paths, without a leading "/".
  const std::map<std::string, Hdf5Array>& arrays() const { return arrays_; }

  /// Array of that path; null if there is none.
  const Hdf5Array* find(const std::string& path) const;

  /// True if there is a group of that path. "" is the root.
  bool has_group(const std::string& path) const;

  /// Elements of all arrays.
  std::int64_t element_count() const;

  /// Bytes of the file.
  std::uint64_t size() const { return size_; }

  Tensor read(const std::string& path) const;

  /// Texts of an attribute of a group or array; none if there is no such attribute.
  MEZZO_API std::optional<std::vector<std::string>> texts(const std::string& object,
                                                          const std::string& attribute) const;

  const std::string& where() const { return where_; }

 private:
  void open();
  class Walk;

  std::string where_;
  std::uint64_t size_ = 0;
  std::unique_ptr<Hdf5Source> source_;
  std::map<std::string, Hdf5Array> arrays_;
  std::map<std::string, Hdf5Object> objects_;  // arrays and groups; "" is the root
};

}  // namespace mezzo::detail
