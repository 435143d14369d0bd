#pragma once
#include <string>
#include <type_traits>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/loss.hpp>

namespace mezzo {

/// Base of metrics, numbers that are averaged over the samples of an epoch. Totals are accumulated in double.
class MEZZO_API Metric {
 public:
  explicit Metric(std::string name) : name_(std::move(name)) {}
  virtual ~Metric() = default;

  /// Returns one number per sample: (batch,), float32 or float64.
  virtual Value call(const Value& y_true, const Value& y_pred) const = 0;

  /// Name in logs and histories.
  const std::string& name() const { return name_; }

  /// The metric or loss of that Keras name with its default options. "accuracy" picks its kind by the shapes of targets
  /// and predictions, as in Keras. A NameError lists the valid names.
  static Any<Metric> from_name(const std::string& name);

  /// Converts a loss to the metric that is the mean of the loss.
  template <class L, class = std::enable_if_t<std::is_base_of_v<Loss, L> || std::is_same_v<L, Any<Loss>>>>
  static Any<Metric> adopt(L loss) {
    return of_loss(Any<Loss>(std::move(loss)));
  }

 private:
  static Any<Metric> of_loss(Any<Loss> loss);
  std::string name_;
};

}  // namespace mezzo
