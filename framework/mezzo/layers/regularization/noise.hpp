#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

namespace detail {
/// Base of layers that change their input by random numbers in training, and return it in inference. The numbers do not
/// depend on the number of threads. Without a seed they depend on seed_everything(), the step and the layer's place in
/// the model; with one, on the seed and the step.
class MEZZO_API Noise : public Layer {
 public:
  void build(const Shape&) override {}
  bool supports_masking() const override { return true; }

 protected:
  template <class Options>
  Noise(const char* kind, const Options& options) : Layer(kind, options), seed_(options.seed) {}

  Value call(const Value& x) override;

  /// Function of training, for an input in the compute dtype with a known shape. It must not refer to the layer, since
  /// models run it later. None: the layer returns its input.
  virtual std::function<Value(const Value&)> noise(const Shape& input) const = 0;

  /// Name of the layer in op lists.
  virtual const char* name_in_lists() const { return "dropout"; }

 private:
  std::optional<std::uint64_t> seed_;
  std::shared_ptr<std::atomic<std::uint64_t>> draws_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);  // outside of steps
};
}  // namespace detail

struct GaussianNoiseOptions {
  double stddev = -1;                   ///< required; standard deviation of the noise, in [0, 1]
  std::optional<std::uint64_t> seed{};  ///< seed of the noise; default: seed_everything() and the layer's place
  std::string name{};                   ///< name of the layer; "": automatic ("gaussian_noise", "gaussian_noise_1")
  Policy dtype{};                       ///< precision policy; default: the policy of the enclosing layer or model
};

/// In training, adds numbers of a normal distribution with mean 0. In inference, returns its input.
class MEZZO_API GaussianNoise : public detail::Noise {
 public:
  /// A ValueError for a stddev outside [0, 1].
  explicit GaussianNoise(GaussianNoiseOptions options = {});

  /// Positional: `GaussianNoise(0.1)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit GaussianNoise(N stddev, GaussianNoiseOptions options = {})
      : GaussianNoise(detail::positional("GaussianNoise", options.name, "stddev", &GaussianNoiseOptions::stddev,
                                         static_cast<double>(stddev), options)) {}

 protected:
  std::function<Value(const Value&)> noise(const Shape& input) const override;

 private:
  GaussianNoiseOptions options_;
};

struct GaussianDropoutOptions {
  double rate = -1;                     ///< required; the noise has the variance rate / (1 - rate), in [0, 1)
  std::optional<std::uint64_t> seed{};  ///< seed of the noise; default: seed_everything() and the layer's place
  std::string name{};                   ///< name of the layer; "": automatic ("gaussian_dropout", "gaussian_dropout_1")
  Policy dtype{};                       ///< precision policy; default: the policy of the enclosing layer or model
};

/// In training, multiplies elements by numbers of a normal distribution with mean 1 (Srivastava et al., 2014). In
/// inference, returns its input.
class MEZZO_API GaussianDropout : public detail::Noise {
 public:
  /// A ValueError for a rate outside [0, 1).
  explicit GaussianDropout(GaussianDropoutOptions options = {});

  /// Positional: `GaussianDropout(0.5)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit GaussianDropout(N rate, GaussianDropoutOptions options = {})
      : GaussianDropout(detail::positional("GaussianDropout", options.name, "rate", &GaussianDropoutOptions::rate,
                                           static_cast<double>(rate), options)) {}

 protected:
  std::function<Value(const Value&)> noise(const Shape& input) const override;

 private:
  GaussianDropoutOptions options_;
};

struct AlphaDropoutOptions {
  double rate = -1;                     ///< required; probability of an element to be replaced, in [0, 1)
  Shape noise_shape{};                  ///< shape of the random choice, which broadcasts to the input's; -1: the size
                                        ///< of the input; {}: the input's shape
  std::optional<std::uint64_t> seed{};  ///< seed of the choice; default: seed_everything() and the layer's place
  std::string name{};                   ///< name of the layer; "": automatic ("alpha_dropout", "alpha_dropout_1")
  Policy dtype{};                       ///< precision policy; default: the policy of the enclosing layer or model
};

/// In training, sets elements to the limit of selu for large negative numbers with probability `rate`, then scales and
/// shifts all so that mean 0 and variance 1 are kept (Klambauer et al., 2017). In inference, returns its input.
class MEZZO_API AlphaDropout : public detail::Noise {
 public:
  /// A ValueError for a rate outside [0, 1), or for sizes of noise_shape below 1 other than -1.
  explicit AlphaDropout(AlphaDropoutOptions options = {});

  /// Positional: `AlphaDropout(0.5)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit AlphaDropout(N rate, AlphaDropoutOptions options = {})
      : AlphaDropout(detail::positional("AlphaDropout", options.name, "rate", &AlphaDropoutOptions::rate,
                                        static_cast<double>(rate), options)) {}

 protected:
  /// A ShapeError if noise_shape doesn't broadcast to the input.
  std::function<Value(const Value&)> noise(const Shape& input) const override;

 private:
  AlphaDropoutOptions options_;
};

}  // namespace mezzo
