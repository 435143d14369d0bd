#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>

namespace mezzo {

namespace detail {
struct LayerState;

/// Facts about a layer that a weight file holds beside the numbers. A loaded file that contradicts them is a FileError.
struct WeightFacts {
  /// Pairs of a tensor that a loaded file may have and the tensor that it copies: {"lm_head.weight", "embed.weight"}.
  /// Names are those in the file, relative to this layer. Never written.
  std::vector<std::pair<std::string, std::string>> copies{};
  /// Pairs of a name and a number that can't be derived from shapes: {"num_heads", 4}. save_weights() writes them as
  /// metadata.
  std::vector<std::pair<std::string, std::int64_t>> numbers{};
};

/// Sets the facts of a layer that is neither a container nor a functional model, in its constructor.
MEZZO_API void set_weight_facts(LayerState& layer, WeightFacts facts);
}  // namespace detail

}  // namespace mezzo
