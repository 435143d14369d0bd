#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/tensor.hpp>

namespace mezzo {

/// Metadata of a safetensors file, its `__metadata__`.
using Metadata = std::map<std::string, std::string>;

/// Tensors with their names.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

namespace detail {
class OpenFile;
}

/// A safetensors file, open for reading. Copies share it. All content is checked; errors name file and tensor.
class SafetensorsFile {
 public:
  /// A tensor's entry in the header.
  struct Entry {
    std::string name;
    DType dtype = DType::float32;
    Shape shape;
    std::uint64_t begin = 0;  ///< offset in bytes from the first tensor
    std::uint64_t bytes = 0;  ///< size in bytes
  };

  /// Opens a file and checks its header. The tensors must fill the file without gaps; the header may list them in any
  /// order. Throws a FileError if the file is missing or malformed, if its header has a checksum that differs, or if a
  /// tensor has a dtype that mezzo lacks (U16, U32, U64, float8) or a rank above 32.
  explicit SafetensorsFile(const std::string& path);

  /// The path given to the constructor.
  const std::string& path() const { return path_; }

  /// All entries, ordered by offset.
  const std::vector<Entry>& entries() const { return entries_; }

  /// Entry of a name; null if there is none.
  const Entry* find(const std::string& name) const;

  /// The metadata, without the checksums of save_safetensors().
  const Metadata& metadata() const { return metadata_; }

  /// Parts of a file that have checksums. save_safetensors() writes `all`; older versions wrote `tensors`.
  enum class Checksums { none, tensors, all };
  Checksums checksums() const { return checksummed_; }

  /// Reads one tensor. Throws a NameError if there is none of that name. Throws a FileError if it can't be read, if a
  /// bool is neither 0 nor 1, or if the file has checksums (written by save_safetensors()) and the tensor's differs.
  Tensor read(const std::string& name) const;

 private:
  std::string path_;
  std::shared_ptr<const detail::OpenFile> file_;
  std::uint64_t data_begin_ = 0;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> places_;
  Metadata metadata_;
  Checksums checksummed_ = Checksums::none;
  std::vector<std::uint32_t> checksums_;  // of the entries
};

/// Writes tensors, ordered by element size (largest first), then by name. The metadata entry `crc32` has a CRC-32 of
/// the header and of each tensor; other readers ignore it. The file is written atomically: to a temporary file, which
/// is flushed to the disk and renamed. Throws a FileError if that fails or if the file exists and is read-only; then a
/// previous file is unchanged (unless the error text says that the file has the new content), and no other file is
/// left. Throws a NameError before it writes if two tensors have the same name, if a name is `__metadata__` or not
/// UTF-8, or if `metadata` has an entry `crc32`.
void save_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata = {});

}  // namespace mezzo
