#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// Options of Average, Maximum, Minimum and Subtract.
struct MergingOptions {
  std::string name{};  ///< name of the layer; "": automatic ("average", "average_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

namespace detail {
/// Base of layers that merge two or more inputs elementwise: `Average()({a, b})`. Inputs broadcast by numpy's rules. As
/// in Keras, an input with fewer axes gets axes of size 1 after the batch axis: (batch, 3) merges with (batch, 4, 3). A
/// ValueError for fewer than two inputs, a ShapeError for shapes that don't fit.
class MEZZO_API Merging : public Layer {
 public:
  Value operator()(const Values& xs, const CallOptions& options = {}) { return Layer::operator()(xs, options).front(); }
  void build(const Shape&) override {}
  bool supports_masking() const override { return true; }
  Values compute_mask(const Values& inputs, const Values& masks) const override;

 protected:
  template <class Options>
  Merging(const char* kind, const Options& options) : Layer(kind, options) {}

  /// Checks the inputs, brings them to one rank and merges them.
  Values call_many(const Values& xs) override;

  /// The result for two or more inputs of one rank.
  virtual Value merge(const Values& xs) const = 0;
};
}  // namespace detail

/// Difference of two inputs. A ValueError for another number of inputs.
class MEZZO_API Subtract : public detail::Merging {
 public:
  explicit Subtract(const MergingOptions& options = {}) : detail::Merging("Subtract", options) {}

 protected:
  Value merge(const Values& xs) const override;
};

/// Mean of two or more inputs.
class MEZZO_API Average : public detail::Merging {
 public:
  explicit Average(const MergingOptions& options = {}) : detail::Merging("Average", options) {}

 protected:
  Value merge(const Values& xs) const override;
};

/// The greatest of two or more inputs; NaN if one is NaN. If several are equal, they share the gradient.
class MEZZO_API Maximum : public detail::Merging {
 public:
  explicit Maximum(const MergingOptions& options = {}) : detail::Merging("Maximum", options) {}

 protected:
  Value merge(const Values& xs) const override;
};

/// The least of two or more inputs; NaN if one is NaN. If several are equal, they share the gradient.
class MEZZO_API Minimum : public detail::Merging {
 public:
  explicit Minimum(const MergingOptions& options = {}) : detail::Merging("Minimum", options) {}

 protected:
  Value merge(const Values& xs) const override;
};

namespace layers {
/// The same for Values: `layers::average({a, b})`.
/// @{
inline Value subtract(const Values& xs) { return Subtract()(xs); }
inline Value average(const Values& xs) { return Average()(xs); }
inline Value maximum(const Values& xs) { return Maximum()(xs); }
inline Value minimum(const Values& xs) { return Minimum()(xs); }
/// @}
}  // namespace layers

}  // namespace mezzo
