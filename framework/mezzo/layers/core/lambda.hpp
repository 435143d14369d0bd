#pragma once
#include <functional>
#include <type_traits>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

namespace detail {
/// A function of one Value, or of all inputs of a layer, that returns a Value or Values.
class LambdaFunction {
 public:
  LambdaFunction() = default;

  template <class F, class = std::enable_if_t<std::is_invocable_r_v<Value, F&, const Value&>>>
  LambdaFunction(F function) : of_one_([f = std::move(function)](const Value& x) mutable -> Value { return f(x); }) {}
  template <class F, std::enable_if_t<!std::is_invocable_r_v<Value, F&, const Value&> &&
                                          (std::is_invocable_r_v<Value, F&, const Values&> ||
                                           std::is_invocable_r_v<Values, F&, const Values&>),
                                      int> = 0>
  LambdaFunction(F function)
      : of_all_([f = std::move(function)](const Values& xs) mutable -> Values {
          if constexpr (std::is_invocable_r_v<Value, F&, const Values&>) {
            return {f(xs)};
          } else {
            return f(xs);
          }
        }) {}

  /// A function of the library or of a program, also where C has one of that name: `tanh`. Null: none.
  LambdaFunction(Value (*function)(const Value&)) {
    if (function != nullptr) of_one_ = function;
  }

  bool given() const { return of_one_ || of_all_; }
  const std::function<Value(const Value&)>& of_one() const { return of_one_; }
  const std::function<Values(const Values&)>& of_all() const { return of_all_; }

 private:
  std::function<Value(const Value&)> of_one_;
  std::function<Values(const Values&)> of_all_;
};
}  // namespace detail

struct LambdaOptions {
  detail::LambdaFunction function{};  ///< required; function of a Value or of Values
  std::string name{};                 ///< name of the layer; "": automatic ("lambda", "lambda_1")
  Policy dtype{};                     ///< precision policy; default: the policy of the enclosing layer or model
};

/// A function as a layer: `Lambda([](const Value& x) { return x * 2; })`, `Lambda([](const Values& xs) { return xs[0] -
/// xs[1]; })({a, b})[0]`. The function runs when a step is traced or a functional model is built, not in each step, and
/// must have no weights: derive from Layer for those.
class MEZZO_API Lambda : public Layer {
 public:
  /// A ValueError if there is no function.
  explicit Lambda(LambdaOptions options = {});

  /// Positional: a function.
  template <class F, class = std::enable_if_t<std::is_convertible_v<F, detail::LambdaFunction> &&
                                              !std::is_same_v<std::decay_t<F>, Lambda>>>
  explicit Lambda(const F& function, LambdaOptions options = {})
      : Lambda(with(detail::LambdaFunction(function), std::move(options))) {}

  /// The same for a function, also where C has one of that name: `Lambda(tanh)`.
  explicit Lambda(Value (*function)(const Value&), LambdaOptions options = {})
      : Lambda(with(detail::LambdaFunction(function), std::move(options))) {}

  using Layer::operator();
  void build(const Shape&) override {}

 protected:
  Values call_many(const Values& xs) override;

 private:
  static LambdaOptions with(detail::LambdaFunction function, LambdaOptions options) {
    if (options.function.given()) detail::fail_given_twice("Lambda", options.name, "function");
    options.function = std::move(function);
    return options;
  }

  LambdaOptions options_;
};

}  // namespace mezzo
