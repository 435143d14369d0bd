#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/layers/core/wrapper.hpp>

namespace mezzo {

struct SpectralNormalizationOptions {
  Any<Layer> layer{};                 ///< required; layer with a weight `kernel` or `embeddings`
  std::int64_t power_iterations = 1;  ///< iterations of a training step, at least 1
  std::string name{};     ///< name of the layer; "": automatic ("spectral_normalization", "spectral_normalization_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

/// Divides the kernel of a layer by its largest singular value, as a matrix (-1, last axis), so that the layer does not
/// stretch its input (Miyato et al., 2018): `SpectralNormalization(Conv2D(64, 3))`. The value is estimated by power
/// iterations in at least float32, which training continues from step to step. The gradient passes through the
/// division. The stored kernel stays as it is, and inference divides it too, by the last estimate; Keras divides the
/// stored kernel in each training step instead. Weights: those of the layer, and vector_u (1, last axis of the kernel),
/// in at least float32.
class MEZZO_API SpectralNormalization : public Wrapper {
 public:
  /// A ValueError if there is no layer, or power_iterations is below 1.
  explicit SpectralNormalization(const SpectralNormalizationOptions& options = {});

  /// Positional: `SpectralNormalization(Dense(10))`, `SpectralNormalization(Dense(10), 3)`.
  template <class L, class = std::enable_if_t<std::is_convertible_v<L, Any<Layer>> &&
                                              !std::is_same_v<std::decay_t<L>, SpectralNormalization>>>
  explicit SpectralNormalization(const L& layer, SpectralNormalizationOptions options = {})
      : SpectralNormalization(with(layer, std::move(options))) {}
  template <class L, class I, detail::IfInteger<I> = 0, class = std::enable_if_t<std::is_convertible_v<L, Any<Layer>>>>
  explicit SpectralNormalization(const L& layer, I power_iterations, SpectralNormalizationOptions options = {})
      : SpectralNormalization(layer, detail::positional("SpectralNormalization", options.name, "power_iterations",
                                                        &SpectralNormalizationOptions::power_iterations,
                                                        static_cast<std::int64_t>(power_iterations), options)) {}

  /// A ValueError if the layer has no weight `kernel` or `embeddings`.
  void build(const Shape& input) override;

 protected:
  Value call(const Value& x) override;

 private:
  static SpectralNormalizationOptions with(Any<Layer> layer, SpectralNormalizationOptions options) {
    if (options.layer) detail::fail_given_twice("SpectralNormalization", options.name, "layer");
    options.layer = std::move(layer);
    return options;
  }

  std::int64_t power_iterations_;
  Variable kernel_{"kernel"};  // of the layer
  Variable vector_u_{"vector_u"};
};

}  // namespace mezzo
