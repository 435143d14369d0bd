#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/io/file_replacement.hpp>
#include <mezzo/io/safetensors.hpp>

namespace mezzo::detail {

using TensorItem = NamedTensors::value_type;
using TensorItems = std::vector<const TensorItem*>;

/// Tensors of one safetensors file with its header. The tensors must outlive it.
class SafetensorsWriter {
 public:
  /// Throws the errors of save_safetensors() for names and metadata.
  SafetensorsWriter(const std::string& path, TensorItems items, const Metadata& metadata);

  /// Writes a temporary file. Its commit() gives it the path.
  std::unique_ptr<FileReplacement> write() const;

 private:
  std::string path_;
  TensorItems items_;
  std::string header_;
};

/// Writes tensors, whose names were checked, as shards of at most that many bytes and an index; one file if all fit it.
void save_shards(const std::string& path, const NamedTensors& tensors, const Metadata& metadata,
                 std::uint64_t max_shard_size);

}  // namespace mezzo::detail
