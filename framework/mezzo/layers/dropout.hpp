#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct DropoutOptions {
  double rate = -1;    ///< required; probability of an element to be dropped, in [0, 1)
  std::string name{};  ///< name of the layer; "": automatic ("dropout", "dropout_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// In training, sets elements to 0 with probability `rate` and divides the others by 1 - rate (Srivastava et al.,
/// 2014). In inference, returns its input. The dropped elements depend only on seed_everything(), the step and the
/// layer's place in the model.
class MEZZO_API Dropout : public Layer {
 public:
  /// A ValueError for a rate outside [0, 1).
  explicit Dropout(DropoutOptions options = {});

  /// Positional: `Dropout(0.5)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit Dropout(N rate, DropoutOptions options = {})
      : Dropout(detail::positional("Dropout", options.name, "rate", &DropoutOptions::rate, static_cast<double>(rate),
                                   options)) {}
  bool supports_masking() const override { return true; }

 protected:
  Value call(const Value& x) override { return dropout(x, options_.rate); }

 private:
  DropoutOptions options_;
};

}  // namespace mezzo
