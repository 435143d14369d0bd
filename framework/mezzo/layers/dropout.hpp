#pragma once
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// `rate`: what part of the elements is dropped; has to be given.
struct DropoutOptions {
  double rate = -1;
  std::string name{};
  Policy dtype{};
};

/// In training, sets elements to 0 with probability `rate` and divides the others by 1 - rate (Srivastava et al.,
/// 2014); otherwise its input. What is dropped is fixed by seed_everything, step and place in the model.
class Dropout : public Layer {
 public:
  /// A ValueError for a rate outside [0, 1).
  explicit Dropout(DropoutOptions options = {});

 protected:
  Value call(const Value& x) override { return dropout(x, options_.rate); }

 private:
  DropoutOptions options_;
};

}  // namespace mezzo
