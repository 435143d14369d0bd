#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/tensor.hpp>

namespace mezzo {

/// The `__metadata__` of a safetensors file.
using Metadata = std::map<std::string, std::string>;

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

namespace detail {
class OpenFile;
}

/// A safetensors file that is open for reading; copies share it. Nothing in it is trusted: a FileError names file,
/// tensor, what was expected and what was received.
class SafetensorsFile {
 public:
  /// What the header says of a tensor.
  struct Entry {
    std::string name;
    DType dtype = DType::float32;
    Shape shape;
    std::uint64_t begin = 0;  ///< in bytes, from the first tensor's
    std::uint64_t bytes = 0;
  };

  /// Opens a file and checks its header, and that the tensors fill the file: in any order in the header, side by side
  /// in the file. A FileError if there is no such file or it is malformed in any way; if a tensor has a dtype that
  /// mezzo lacks (U16, U32, U64, float8) or a rank above 32.
  explicit SafetensorsFile(const std::string& path);

  const std::string& path() const { return path_; }

  /// In the order of their bytes.
  const std::vector<Entry>& entries() const { return entries_; }

  /// The tensor of that name, or null.
  const Entry* find(const std::string& name) const;

  /// Without the checksums, which are this class' own.
  const Metadata& metadata() const { return metadata_; }

  /// Reads one tensor. A NameError if there is none of that name; a FileError if it can't be read, a bool is neither
  /// 0 nor 1, or the file has checksums, as those written by mezzo do, and the tensor's differs.
  Tensor read(const std::string& name) const;

 private:
  std::string path_;
  std::shared_ptr<const detail::OpenFile> file_;
  std::uint64_t data_begin_ = 0;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> places_;
  Metadata metadata_;
  std::vector<std::uint32_t> checksums_;  // of the entries; or empty
};

/// Writes tensors, the widest elements first and then by name, with a CRC-32 of each in the metadata (`crc32`), which
/// other readers ignore. The file appears as a whole: it is written beside `path`, brought to the disk and renamed.
/// A FileError if that fails: the file that was there stays as it was, and nothing else is left. A NameError, before
/// anything is written, if two tensors have one name, one is named `__metadata__` or isn't UTF-8, or `metadata` has
/// `crc32`.
void save_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata = {});

}  // namespace mezzo
