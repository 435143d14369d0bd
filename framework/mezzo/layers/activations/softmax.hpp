#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct SoftmaxOptions {
  detail::Ints axis = -1;  ///< axis or axes along which outputs sum to 1; negative axes count from the end
  std::string name{};      ///< name of the layer; "": automatic ("softmax", "softmax_1")
  Policy dtype{};          ///< precision policy; default: the policy of the enclosing layer or model
};

/// exp(x) divided by its sum along an axis, computed in at least float32. A ShapeError for an input without that axis.
/// With a mask, `Softmax()(x, {.mask = mask})`, elements whose mask is false are 0 and not in the sum; all are 0 where
/// no mask is true. The mask broadcasts to x by numpy's rules, as in Keras.
class MEZZO_API Softmax : public Layer {
 public:
  /// A ValueError for no axis.
  explicit Softmax(SoftmaxOptions options = {});

  /// Positional: `Softmax(1)`.
  template <class I, detail::IfInteger<I> = 0>
  explicit Softmax(I axis, SoftmaxOptions options = {})
      : Softmax(
            detail::positional("Softmax", options.name, "axis", &SoftmaxOptions::axis, detail::Ints(axis), options)) {}
  void build(const Shape&) override {}
  bool supports_masking() const override { return true; }

 protected:
  Value call(const Value& x) override;

 private:
  SoftmaxOptions options_;
};

}  // namespace mezzo
