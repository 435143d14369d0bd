#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct ActivityRegularizationOptions {
  double l1 = 0;       ///< factor of the sum of absolute values, at least 0
  double l2 = 0;       ///< factor of the sum of squares, at least 0
  std::string name{};  ///< name of the layer; "": automatic ("activity_regularization", "activity_regularization_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// Returns its input and adds l1 sum(|x|) + l2 sum(x^2), divided by the batch size, to the loss.
class MEZZO_API ActivityRegularization : public Layer {
 public:
  /// A ValueError for a negative or infinite factor.
  explicit ActivityRegularization(const ActivityRegularizationOptions& options = {});

  /// Positional: `ActivityRegularization(0.01)`, `ActivityRegularization(0.01, 0.02)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit ActivityRegularization(N l1, const ActivityRegularizationOptions& options = {})
      : ActivityRegularization(detail::positional("ActivityRegularization", options.name, "l1",
                                                  &ActivityRegularizationOptions::l1, static_cast<double>(l1),
                                                  options)) {}
  template <class N, class M, detail::IfNumber<N> = 0, detail::IfNumber<M> = 0>
  explicit ActivityRegularization(N l1, M l2, const ActivityRegularizationOptions& options = {})
      : ActivityRegularization(
            l1, detail::positional("ActivityRegularization", options.name, "l2", &ActivityRegularizationOptions::l2,
                                   static_cast<double>(l2), options)) {}
  bool supports_masking() const override { return true; }

 protected:
  Value call(const Value& x) override { return x; }
};

}  // namespace mezzo
