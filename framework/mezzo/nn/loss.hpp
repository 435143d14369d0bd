#pragma once
#include <string>
#include <utility>

#include <mezzo/core/any.hpp>
#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Base of losses, the quantities that training minimizes.
class MEZZO_API Loss {
 public:
  explicit Loss(std::string name) : name_(std::move(name)) {}
  virtual ~Loss() = default;

  /// Returns one number per sample: (batch,), float32 or float64. The arguments are in Keras' order.
  virtual Value call(const Value& y_true, const Value& y_pred) const = 0;

  /// Name in logs and histories.
  const std::string& name() const { return name_; }

  /// The loss of that Keras name ("mse", "sparse_categorical_crossentropy") with its default options. A NameError lists
  /// the valid names.
  static Any<Loss> from_name(const std::string& name);

 private:
  std::string name_;
};

}  // namespace mezzo
