#pragma once
#include <string>
#include <utility>

#include <mezzo/core/any.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Base of losses: what a compiled model minimizes.
class Loss {
 public:
  explicit Loss(std::string name) : name_(std::move(name)) {}
  virtual ~Loss() = default;

  /// One number per sample, float32 or float64, from targets and predictions in Keras' order.
  virtual Value call(const Value& y_true, const Value& y_pred) const = 0;

  const std::string& name() const { return name_; }

  /// The loss of that Keras name ("mse", "sparse_categorical_crossentropy"); a NameError that lists the good ones
  /// otherwise.
  static Any<Loss> from_name(const std::string& name);

 private:
  std::string name_;
};

}  // namespace mezzo
