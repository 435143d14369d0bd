#pragma once
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include <mezzo/core/any.hpp>
#include <mezzo/core/api.hpp>
#include <mezzo/core/unmoved.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Base of constraints: projections of weights that training applies after each update. Options accept a constraint, a
/// name ("non_neg") or a function of a Value: `.kernel_constraint = [](const Value& w) { return relu(w); }`.
class MEZZO_API Constraint : public detail::MoveChecked {
 public:
  /// The weight that replaces `weight`, of the same shape. The weight is in float32 (float64 if it is stored so).
  virtual Value call(const Value& weight) const = 0;
  Value operator()(const Value& weight) const {
    check_not_moved();
    return call(weight);
  }

  /// The constraint of that Keras name ("max_norm", "min_max_norm", "non_neg", "unit_norm") with its default options. A
  /// NameError lists the valid names.
  static Any<Constraint> from_name(const std::string& name);

  /// Makes a constraint of a function or lambda.
  template <class F, class = std::enable_if_t<std::is_invocable_r_v<Value, F, const Value&> &&
                                              !std::is_base_of_v<Constraint, std::decay_t<F>>>>
  static Any<Constraint> adopt(F function) {
    return of_function(std::function<Value(const Value&)>(std::move(function)));
  }

 private:
  static Any<Constraint> of_function(std::function<Value(const Value&)> function);
};

}  // namespace mezzo
