#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/layers/regularization/noise.hpp>

namespace mezzo {

struct DropoutOptions {
  double rate = -1;     ///< required; probability of an element to be dropped, in [0, 1)
  Shape noise_shape{};  ///< shape of the random choice, which broadcasts to the input's: {-1, 1, -1} drops whole
                        ///< columns of (batch, steps, features); -1: the size of the input; {}: the input's shape
  std::optional<std::uint64_t> seed{};  ///< seed of the choice; default: seed_everything() and the layer's place
  std::string name{};                   ///< name of the layer; "": automatic ("dropout", "dropout_1")
  Policy dtype{};                       ///< precision policy; default: the policy of the enclosing layer or model
};

/// In training, sets elements to 0 with probability `rate` and divides the others by 1 - rate (Srivastava et al.,
/// 2014). In inference, returns its input. Without a seed, the dropped elements depend only on seed_everything(), the
/// step and the layer's place in the model.
class MEZZO_API Dropout : public detail::Noise {
 public:
  /// A ValueError for a rate outside [0, 1), or for sizes of noise_shape below 1 other than -1.
  explicit Dropout(DropoutOptions options = {});

  /// Positional: `Dropout(0.5)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit Dropout(N rate, DropoutOptions options = {})
      : Dropout(detail::positional("Dropout", options.name, "rate", &DropoutOptions::rate, static_cast<double>(rate),
                                   options)) {}

 protected:
  Value call(const Value& x) override;

  /// A ShapeError if noise_shape doesn't broadcast to the input.
  std::function<Value(const Value&)> noise(const Shape& input) const override;

 private:
  DropoutOptions options_;
};

}  // namespace mezzo
