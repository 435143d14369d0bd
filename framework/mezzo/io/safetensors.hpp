#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/io/shard_options.hpp>
#include <mezzo/io/tensor_file.hpp>

namespace mezzo {

/// Metadata of a safetensors file, its `__metadata__`: texts by name.
using Metadata = std::map<std::string, std::string>;

/// Tensors with their names, as they are read from and written to files.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// A safetensors file, open for reading, or the shards that a `model.safetensors.index.json` lists. Copies share it.
/// Reading a tensor takes memory for that tensor alone, not for the whole file. All content is checked; errors name
/// file and tensor. Entries are ordered by offset, those of shards by the names of the shards; `begin` counts in the
/// file, or the shard, that has the tensor.
///
///     const SafetensorsFile file("model.safetensors");
///     for (const std::string& name : file.names()) std::cout << name << " " << to_string(file.find(name)->shape);
///     const Tensor embeddings = file.read("embeddings.weight");
class MEZZO_API SafetensorsFile : public TensorFile {
 public:
  /// Opens a file and checks its header, or those of all shards. The tensors must fill a file without gaps; the header
  /// may list them in any order. Opens `path`.index.json if `path` doesn't exist and this does, as after
  /// save_safetensors() with shards. Throws a FileError if the file is missing or malformed, if its header has a
  /// checksum that differs, if a tensor has a dtype that the format doesn't know or a rank above 32, or if an index
  /// names a tensor that its shard lacks.
  explicit SafetensorsFile(const std::string& path);

  /// The same for a file that was recognized before.
  explicit SafetensorsFile(const detail::RecognizedFile& file);

  /// The metadata, without the checksums of save_safetensors(). Those of shards are merged; the first one counts.
  const Metadata& metadata() const { return metadata_; }

  /// Parts of a file that have checksums. save_safetensors() writes `all`; older versions wrote `tensors`. Those of
  /// shards: the least.
  enum class Checksums { none, tensors, all };
  Checksums checksums() const { return checksummed_; }  ///< parts that read() compares with stored checksums

  /// Reads one tensor. A dtype that mezzo lacks is read as uint8: F8_* with the tensor's shape; U16, U32, U64 and C64
  /// with one more axis, the bytes of an element; F4 and F6_*, which pack elements, with one axis. Throws a NameError
  /// if there is no tensor of that name. Throws a FileError if it can't be read, if the file was changed or cut since
  /// it was opened, if a bool is neither 0 nor 1, or if the file has checksums (written by save_safetensors()) and the
  /// tensor's differs.
  Tensor read(const std::string& name) const;

  /// Throws the errors of read(), without memory for the tensor. Its checksum is compared once: read() doesn't repeat
  /// it.
  void check(const std::string& name) const;

 private:
  struct Shard;
  void add_shard(const std::shared_ptr<Shard>& shard, const std::vector<std::string>* names);

  std::vector<std::shared_ptr<Shard>> shards_;  // of each entry
  Metadata metadata_;
  Checksums checksummed_ = Checksums::all;
};

/// Reads all tensors of a file, or of the shards of an index. Errors are those of SafetensorsFile.
MEZZO_API NamedTensors load_safetensors(const std::string& path);

/// Writes tensors, ordered by element size (largest first), then by name. The metadata entry `crc32` has a CRC-32 of
/// the header and of each tensor; other readers ignore it. The file is written atomically: to a temporary file, which
/// is flushed to the disk and renamed. Throws a FileError if that fails, if the file exists and is read-only, or if the
/// path has the suffix of another format (".pt"); then a previous file is unchanged (unless the error text says that
/// the file has the new content), and no other file is left. Throws a NameError before it writes if two tensors have
/// the same name, if a name is `__metadata__` or not UTF-8, or if `metadata` has an entry `crc32`.
///
/// With a `max_shard_size` it writes shards, as ShardOptions describes.
MEZZO_API void save_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata = {},
                                const ShardOptions& shards = {});

}  // namespace mezzo
