#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

struct HostOptions {
  std::optional<Shape> shape{};  ///< of the result; default: that of the first argument
  std::optional<DType> dtype{};  ///< of the result; default: that of the first argument
};

/// function(x), computed by C++ code on arrays each time the step runs. The arguments keep their dtypes whatever the
/// policy. It is called once a step, before variables are updated, and once more if a step is skipped under loss
/// scaling. An exception that it throws ends the step and changes no variable. A gradient through it is a ValueError:
/// use stop_gradient() or custom_gradient(). A ShapeError or DTypeError if a result is not as the options say.
Value host(std::function<Tensor(const Tensor& x)> function, const Value& x, const HostOptions& options = {});

/// The same for several arguments.
Value host(std::function<Tensor(const std::vector<Tensor>& xs)> function, const Values& xs,
           const HostOptions& options = {});

struct PrintOptions {
  std::string message{};  ///< written in front of the numbers
};

/// x; each time the step runs, its numbers are written to std::cout as `message float32 (2,) [1, 2]`, summarized as
/// NumPy does if they are many. Not dropped even if nothing uses the result.
Value print(const Value& x, const PrintOptions& options = {});

}  // namespace mezzo
