#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct DotOptions {
  detail::Named named{};   ///< leave it out
  detail::Ints axes{};     ///< required; axis of both inputs, or one axis of each; negative axes count from the end
  bool normalize = false;  ///< true: divides the inputs by their L2 norms along the axes, which makes cosines
  std::string name{};      ///< name of the layer; "": automatic ("dot", "dot_1")
  Policy dtype{};          ///< precision policy; default: the policy of the enclosing layer or model
};

/// Dot product of two inputs along one axis of each, for each sample: `Dot(1)({a, b})`. The output has the axes of a,
/// then those of b after the batch axis, both without the axes of the product: (batch, 2, 4) and (batch, 3, 4) with
/// axes 2 become (batch, 2, 3), and two inputs (batch, 4) with axes 1 become (batch, 1).
class MEZZO_API Dot : public Layer {
 public:
  /// A ValueError unless there are one or two axes.
  explicit Dot(DotOptions options = {});

  /// Positional: `Dot(1)`, `Dot({1, 2})`.
  template <class I, detail::IfInteger<I> = 0>
  explicit Dot(I axes, DotOptions options = {}) : Dot(detail::Ints(axes), std::move(options)) {}
  template <class S = detail::Ints, detail::IfSame<S, detail::Ints> = 0>
  explicit Dot(const S& axes, DotOptions options = {})
      : Dot(detail::positional("Dot", options.name, "axes", &DotOptions::axes, axes, options)) {}

  /// Product of two Values, contracted along the layer's axes: `Dot(1)({a, b})`.
  Value operator()(const Values& xs, const CallOptions& options = {}) { return Layer::operator()(xs, options).front(); }
  void build(const Shape&) override {}
  bool supports_masking() const override { return true; }
  Values compute_mask(const Values&, const Values&) const override { return {}; }

 protected:
  /// A ValueError unless there are two inputs, or if an axis is 0. A ShapeError for inputs of fewer than two axes, of
  /// different batch sizes, or of different sizes along the axes.
  Values call_many(const Values& xs) override;

 private:
  DotOptions options_;
};

namespace layers {
/// Dot product of two Values, as the layer: `layers::dot({a, b}, 1)`.
inline Value dot(const Values& xs, const detail::Ints& axes = -1) { return Dot(axes)(xs); }
}  // namespace layers

}  // namespace mezzo
