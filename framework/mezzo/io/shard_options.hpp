#pragma once
#include <cstdint>
#include <string>
#include <type_traits>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// Size of a shard in bytes: a number, or a number with a unit, such as "5GB" and "1.5 MiB". KB, MB, GB and TB are
/// powers of 1000; KiB, MiB, GiB and TiB are powers of 1024.
class MEZZO_API ShardSize {
 public:
  /// No limit.
  ShardSize() = default;

  /// Throws a ValueError for a number below 1.
  template <class T, class = std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>>
  ShardSize(T bytes) : ShardSize(checked(bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0)) {}

  /// Throws a ValueError for another text, and for less than one byte.
  ShardSize(const std::string& text);
  ShardSize(const char* text) : ShardSize(std::string(text)) {}

  /// Size in bytes; 0: no limit.
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Checked {
    std::uint64_t bytes;
  };
  static Checked checked(std::uint64_t bytes);
  ShardSize(Checked size) : bytes_(size.bytes) {}

  std::uint64_t bytes_ = 0;
};

/// Options of save_safetensors() and Layer::save_weights().
///
/// With a `max_shard_size`, tensors go to "model-00001-of-00003.safetensors" and so on, for the path
/// "model.safetensors", and "model.safetensors.index.json" lists them, as Hugging Face writes and reads them. Tensors
/// that fit one shard go to the path itself. An earlier save under the path, one file or shards with another number, is
/// replaced: new shards are written as temporary files, then the old index is deleted, then files are renamed, then the
/// new index is written and what is left of the earlier save is deleted. A save that fails before the first rename
/// changes nothing. One that fails later, or is killed, leaves no index, so that old and new shards are never read
/// together.
struct ShardOptions {
  ShardSize max_shard_size{};  ///< largest sum of the sizes of a shard's tensors; a larger tensor has its own shard
};

}  // namespace mezzo
