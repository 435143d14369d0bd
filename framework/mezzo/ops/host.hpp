#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/names.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Options of host().
struct HostOptions {
  std::optional<Shape> shape{};  ///< shape of the result; default: shape of the first argument
  std::optional<DType> dtype{};  ///< dtype of the result; default: dtype of the first argument
};

/// function(x), computed by C++ code on arrays each time the step runs. The arguments keep their dtypes under every
/// policy. The function is called once a step, before variables are updated, and once more if a step is skipped under
/// loss scaling. If it throws, the step ends and changes no variable. A gradient through it is a ValueError: use
/// stop_gradient() or custom_gradient(). Throws a ShapeError or DTypeError if a result doesn't match the options.
MEZZO_API Value host(std::function<Tensor(const Tensor& x)> function, const Value& x, const HostOptions& options = {});

/// The same for several arguments.
MEZZO_API Value host(std::function<Tensor(const std::vector<Tensor>& xs)> function, const Values& xs,
                     const HostOptions& options = {});

/// Options of print().
struct PrintOptions {
  std::string message{};  ///< text in front of the numbers
};

/// Returns x and writes its numbers to std::cout each time the step runs, as `message float32 (2,) [1, 2]`. Large
/// arrays are summarized as in NumPy. The op is kept even if nothing uses the result.
MEZZO_API Value print(const Value& x, const PrintOptions& options = {});

/// Writes texts to std::cout at once, as `message ["cat", "dog"]`: `print(train.class_names())`.
MEZZO_API void print(const std::vector<std::string>& texts, const PrintOptions& options = {});

namespace detail {
MEZZO_API void print_text(const std::string& text, const PrintOptions& options);
}

/// Writes one text to std::cout at once, without quotes, as `message text`: `print(model.name())`.
template <class S, detail::IfName<S> = 0>
void print(const S& text, const PrintOptions& options = {}) {
  detail::print_text(text, options);
}

}  // namespace mezzo
