#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct ConcatenateOptions {
  std::int64_t axis = -1;  ///< axis to join along; negative axes count from the end
  std::string name{};      ///< name of the layer; "": automatic ("concatenate", "concatenate_1")
  Policy dtype{};          ///< precision policy; default: the policy of the enclosing layer or model
};

/// Inputs joined along an axis: `Concatenate()({a, b})`. A ShapeError unless all other sizes are equal.
class MEZZO_API Concatenate : public Layer {
 public:
  explicit Concatenate(const ConcatenateOptions& options = {}) : Layer("Concatenate", options), axis_(options.axis) {}

  /// Positional: `Concatenate(1)`.
  template <class I, detail::IfInteger<I> = 0>
  explicit Concatenate(I axis, ConcatenateOptions options = {})
      : Concatenate(detail::positional("Concatenate", options.name, "axis", &ConcatenateOptions::axis,
                                       static_cast<std::int64_t>(axis), options)) {}
  Value operator()(const Values& xs, const CallOptions& options = {}) { return Layer::operator()(xs, options).front(); }
  void build(const Shape&) override {}
  bool supports_masking() const override { return true; }
  Values compute_mask(const Values& inputs, const Values& masks) const override;

 protected:
  Values call_many(const Values& xs) override { return {concat(xs, axis_)}; }

 private:
  std::int64_t axis_;
};

namespace layers {
/// Values joined along an axis, as the layer: `layers::concatenate({a, b})`.
inline Value concatenate(const Values& xs, std::int64_t axis = -1) { return Concatenate(axis)(xs); }
}  // namespace layers

}  // namespace mezzo
