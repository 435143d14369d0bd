#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct PermuteOptions {
  Shape dims{};        ///< required; the numbers 1 to n in the order of the output's axes, as in Keras
  std::string name{};  ///< name of the layer; "": automatic ("permute", "permute_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// Permutes the axes of each sample: axis i of the output is axis dims[i - 1] of the input, and axis 0, the batch,
/// stays. `Permute({.dims = {2, 1}})` maps (batch, 3, 4) to (batch, 4, 3). A ShapeError for an input of another rank.
class MEZZO_API Permute : public Layer {
 public:
  /// A ValueError unless dims holds each of 1, 2, ..., n once.
  explicit Permute(const PermuteOptions& options = {});

  /// Positional: `Permute({2, 1})`.
  template <class S = Shape, detail::IfSame<S, Shape> = 0>
  explicit Permute(const S& dims, const PermuteOptions& options = {})
      : Permute(detail::positional("Permute", options.name, "dims", &PermuteOptions::dims, dims, options)) {}

 protected:
  Value call(const Value& x) override;

 private:
  Shape permutation_;  // of all axes, with the batch
};

}  // namespace mezzo
