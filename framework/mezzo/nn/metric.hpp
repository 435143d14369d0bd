#pragma once
#include <string>
#include <type_traits>
#include <utility>

#include <mezzo/nn/loss.hpp>

namespace mezzo {

/// Base of metrics: what is averaged over the samples of an epoch. Totals are kept in double.
class Metric {
 public:
  explicit Metric(std::string name) : name_(std::move(name)) {}
  virtual ~Metric() = default;

  /// One number per sample, float32 or float64.
  virtual Value call(const Value& y_true, const Value& y_pred) const = 0;

  const std::string& name() const { return name_; }

  /// The metric, or the loss, of that Keras name; a NameError that lists the good ones otherwise. "accuracy" picks
  /// its kind by the shapes of targets and predictions, as Keras does.
  static Any<Metric> from_name(const std::string& name);

  /// A loss is a metric too: its mean.
  template <class L, class = std::enable_if_t<std::is_base_of_v<Loss, L> || std::is_same_v<L, Any<Loss>>>>
  static Any<Metric> adopt(L loss) {
    return of_loss(Any<Loss>(std::move(loss)));
  }

 private:
  static Any<Metric> of_loss(Any<Loss> loss);
  std::string name_;
};

}  // namespace mezzo
