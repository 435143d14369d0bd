#pragma once
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/core/position_layer.hpp>

namespace mezzo {

struct RotaryEmbeddingOptions {
  double max_wavelength = 10000;     ///< base of the wavelengths, above 1
  double scaling_factor = 1;         ///< factor by which contexts are longer than those of training, above 0
  std::string rope_type = "linear";  ///< "linear" and "dynamic" divide all frequencies, "yarn" and "llama3"
                                     ///< only the low ones
  double beta_fast = 32;             ///< "yarn": rotations in the original context from which frequencies are kept
  double beta_slow = 1;              ///< "yarn": rotations below which they are divided
  std::int64_t original_max_position_embeddings =
      4096;                                       ///< "yarn", "llama3": length of the original context, at least 1
  bool truncate = true;                           ///< "yarn": rounds the range of the frequencies between both
  std::int64_t sequence_axis = 1;                 ///< axis of the positions; negative axes count from the end
  std::int64_t feature_axis = -1;                 ///< axis of the features, of even size
  std::optional<std::int64_t> denominator_dim{};  ///< divides the exponents of the frequencies, at least 1; default:
                                                  ///< the size of the feature axis; unused by "yarn"
  double low_freq_factor = 1;   ///< "llama3": periods in the original context below which frequencies are divided
  double high_freq_factor = 4;  ///< "llama3": periods above which they are kept; above low_freq_factor
  std::string name{};           ///< name of the layer; "": automatic ("rotary_embedding", "rotary_embedding_1")
  Policy dtype{};               ///< precision policy; default: the policy of the enclosing layer or model
};

/// Rotates pairs of features by angles that grow with the position (Su et al., 2021), as keras_hub's layer of this
/// name: of D features, feature i < D / 2 and feature i + D / 2 are a pair, rotated by position * max_wavelength^(-2 i
/// / D). Inputs: (batch, steps, features), (batch, steps, heads, features), or with other axes in any order. Angles are
/// computed in float64 and rotations in at least float32. "yarn" is YaRN (Peng et al., 2023), "llama3" the scaling of
/// Llama 3.1, which keras_hub's layer lacks.
class MEZZO_API RotaryEmbedding : public detail::PositionLayer {
 public:
  /// A ValueError for a number out of its range, a NameError for an unknown rope_type.
  explicit RotaryEmbedding(RotaryEmbeddingOptions options = {});

  /// Positional: `RotaryEmbedding(500000)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit RotaryEmbedding(N max_wavelength, RotaryEmbeddingOptions options = {})
      : RotaryEmbedding(detail::positional("RotaryEmbedding", options.name, "max_wavelength",
                                           &RotaryEmbeddingOptions::max_wavelength, static_cast<double>(max_wavelength),
                                           options)) {}
  void build(const Shape&) override {}

 protected:
  /// A ShapeError for an axis that the input doesn't have, equal axes, an odd number of features, or positions of
  /// another length.
  Value call_at(const Value& x, const Value& positions, std::int64_t start_index) override;

 private:
  RotaryEmbeddingOptions options_;
};

}  // namespace mezzo
