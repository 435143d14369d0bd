#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/dtype.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/io/hdf5_bytes.hpp>

namespace mezzo::detail {

/// Type of the elements of an array or attribute.
struct Hdf5Type {
  enum class Kind { number, text, variable_text, other } kind = Kind::other;
  std::optional<DType> dtype{};  ///< of numbers that a Tensor has
  std::size_t size = 0;          ///< bytes of an element
  bool big_endian = false;
};

struct Hdf5Attribute {
  std::string name;
  Hdf5Type type;
  Shape shape;
  Bytes data;
};

/// A link to an object in the header of a group of the newer form.
struct Hdf5Link {
  std::string name;
  bool hard = true;
  std::uint64_t address = hdf5_nowhere;
};

/// Storage of an array.
struct Hdf5Layout {
  enum class Kind { none, compact, contiguous, chunked, other } kind = Kind::none;
  Bytes data{};                          ///< compact
  std::uint64_t address = hdf5_nowhere;  ///< of the elements, or of the tree of chunks
  std::uint64_t size = 0;                ///< bytes of contiguous elements
  std::vector<std::uint64_t> chunk{};    ///< sizes of a chunk
};

/// Parts of an object's header that arrays, groups and attributes need.
struct Hdf5Object {
  bool has_tree = false;  ///< a group of the older form
  std::uint64_t tree = hdf5_nowhere, heap = hdf5_nowhere;
  bool dense = false;  ///< links or attributes are in a form that isn't read
  bool has_links = false;
  std::vector<Hdf5Link> links{};
  std::optional<Hdf5Type> type{};
  std::optional<Shape> shape{};
  bool null_space = false, external = false;
  Hdf5Layout layout{};
  std::vector<int> filters{};  ///< in the order of writing
  std::vector<Hdf5Attribute> attributes{};
};

/// Reads the header of an object at that address. A FileError if it is damaged or of a form that h5py doesn't write by
/// default.
Hdf5Object read_hdf5_object(const Hdf5Source& source, std::uint64_t address);

}  // namespace mezzo::detail
