#pragma once
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// `axis`: that, or those, over which each sample is normalized: `-1` or `{-2, -1}`. Without `center` there is no beta,
/// without `scale` no gamma.
struct LayerNormalizationOptions {
  Ints axis = -1;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Any<Initializer> beta_initializer = "zeros";
  Any<Initializer> gamma_initializer = "ones";
  std::string name{};
  Policy dtype{};
  bool trainable = true;
};

/// gamma (x - mean) / sqrt(variance + epsilon) + beta, with mean and biased variance over the axes given, in training
/// and out of it (Ba et al., 2016). Weights: gamma, beta, of the shape of those axes, of at least float32.
class LayerNormalization : public Layer {
 public:
  /// A ValueError for an epsilon below 0 or no axis.
  explicit LayerNormalization(LayerNormalizationOptions options = {});

  /// A ShapeError for an axis that the input lacks, a ValueError for one that is given twice.
  void build(const Shape& input) override;

 protected:
  Value call(const Value& x) override;

 private:
  Shape axes_of(std::size_t rank) const;
  Value normalize(const Value& x, const Shape& shape);

  LayerNormalizationOptions options_;
  Variable gamma_{"gamma"};
  Variable beta_{"beta"};
};

}  // namespace mezzo
