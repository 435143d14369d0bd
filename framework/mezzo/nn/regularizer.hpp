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

/// Base of regularizers: penalties on weights or outputs that training adds to the loss. Options accept a regularizer,
/// a name ("l2") or a function of a Value: `.kernel_regularizer = [](const Value& w) { return 0.01 * sum(abs(w)); }`.
class MEZZO_API Regularizer : public detail::MoveChecked {
 public:
  /// Penalty of x, a scalar; elements of other results are summed. x is a weight in float32 (float64 if the weight is),
  /// or an output of a layer.
  virtual Value call(const Value& x) const = 0;
  Value operator()(const Value& x) const {
    check_not_moved();
    return call(x);
  }

  /// The regularizer of that Keras name ("l1", "l2", "l1_l2", "orthogonal_regularizer") with its default options. A
  /// NameError lists the valid names.
  static Any<Regularizer> from_name(const std::string& name);

  /// Makes a regularizer of a function or lambda.
  template <class F, class = std::enable_if_t<std::is_invocable_r_v<Value, F, const Value&> &&
                                              !std::is_base_of_v<Regularizer, std::decay_t<F>>>>
  static Any<Regularizer> adopt(F function) {
    return of_function(std::function<Value(const Value&)>(std::move(function)));
  }

 private:
  static Any<Regularizer> of_function(std::function<Value(const Value&)> function);
};

}  // namespace mezzo
