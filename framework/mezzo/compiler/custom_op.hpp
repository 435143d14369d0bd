#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/core/api.hpp>
#include <mezzo/graph/gradient_context.hpp>

namespace mezzo {

/// Arguments of one run of a custom op's kernel.
struct KernelCall {
  const KernelRequest& request;      ///< shapes, dtypes and attributes
  const KernelArguments& arguments;  ///< addresses of inputs and outputs

  /// First element of input i.
  template <class T>
  const T* in(std::size_t i) const {
    return arguments.in<T>(i);
  }

  /// First element of output i.
  template <class T>
  T* out(std::size_t i) const {
    return arguments.out<T>(i);
  }
};

/// Name, kernel and gradient of an op that a user's program defines.
struct CustomOpOptions {
  /// Required. The name in errors, in explain() and in op lists. Must not be the name of an op of the library.
  std::string name{};

  /// Computes the outputs from the inputs. All arrays are dense and row-major. May run on any thread, but only once at
  /// a time for each model. Required unless `create` is given.
  std::function<void(const KernelCall& call)> kernel{};

  /// Dtypes of the first input that `kernel` accepts. Not used with `create`.
  std::vector<DType> dtypes{DType::float32};

  /// Makes a Kernel object for the shapes of a request, in place of `kernel`: it can allocate memory and choose an
  /// algorithm once. Returns null and sets `reason` to decline.
  std::function<std::unique_ptr<Kernel>(const KernelRequest& request, std::string& reason)> create{};

  /// Checks the call and returns the specs of the outputs; sizes may be -1 (unknown batch). Default: one output like
  /// the first input, which must be floating.
  std::function<std::vector<Spec>(const OpCall& call)> infer{};

  /// Vector-Jacobian product, written with ops: one Value per input; an undefined Value means no gradient for that
  /// input. Default: the op is not differentiable, and gradients stop here.
  std::function<Values(const GradientContext& context)> gradient{};

  /// Casts of the operands under policies. Default: all to the widest dtype among them, integers to the compute dtype.
  detail::CastRule cast{{Cast::promote}, true, false};

  /// True: bfloat16 and float16 operands that `kernel` does not accept are converted to float32, and the results are
  /// rounded once.
  bool widens = true;

  /// True: the kernel has a side effect, so a node is never dropped and never merged with an equal one. Required for a
  /// kernel that may throw: it then runs before any variable is updated.
  bool effect = false;
};

/// An op of a user's program. It is registered until the process ends, is cast by policies and op lists, and runs in
/// traced and eager steps, as the library's own ops do (docs/custom_ops.md). Make it inside a function: at namespace
/// scope it could be made before the library's own ops.
///
///     const CustomOp square({.name = "square",
///                            .kernel = [](const KernelCall& call) { ... },
///                            .gradient = [](const GradientContext& c) { return Values{c.cotangent() * 2 * c.input(0)};
///                            }});
///     Value y = square(x);
class MEZZO_API CustomOp {
 public:
  /// A ValueError without a name, or without exactly one of kernel and create. A NameError for the name of an op of the
  /// library. A second op with the same name replaces the first in later look-ups by name.
  explicit CustomOp(const CustomOpOptions& options);

  /// Applies the op and returns its outputs. infer, gradient and kernel read `attributes`.
  Values operator()(const Values& inputs, const Attributes& attributes = {}) const;

  /// Applies the op to one input and returns its first output.
  Value operator()(const Value& x, const Attributes& attributes = {}) const {
    return (*this)(Values{x}, attributes)[0];
  }

  /// The registered op.
  const Op& op() const { return *op_; }

 private:
  const Op* op_;
};

}  // namespace mezzo
