#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/graph/gradient_context.hpp>

namespace mezzo {

/// One run of a custom op's kernel.
struct KernelCall {
  const KernelRequest& request;      ///< shapes, dtypes and attributes
  const KernelArguments& arguments;  ///< addresses of inputs and outputs

  template <class T>
  const T* in(std::size_t i) const {
    return arguments.in<T>(i);
  }
  template <class T>
  T* out(std::size_t i) const {
    return arguments.out<T>(i);
  }
};

/// An op of a user's program.
struct CustomOpOptions {
  /// Required. Shown in errors and by explain(), accepted by op lists. Not one of the library's.
  std::string name{};

  /// Computes the outputs from the inputs, dense row-major arrays. May run on any thread, but one at a time for each
  /// model. Required unless `create` is given.
  std::function<void(const KernelCall& call)> kernel{};

  /// Dtypes of the first input that `kernel` computes.
  std::vector<DType> dtypes{DType::float32};

  /// In place of `kernel`: makes a Kernel of one's own for a request, which may allocate and choose once for its
  /// shapes. Returns null and sets `reason` to decline.
  std::function<std::unique_ptr<Kernel>(const KernelRequest& request, std::string& reason)> create{};

  /// Checks the call and returns the specs of the outputs; sizes may be -1 (unknown batch). Default: one output like
  /// the first input, which must be floating.
  std::function<std::vector<Spec>(const OpCall& call)> infer{};

  /// Vector-Jacobian product, written with ops. Default: the op is not differentiable, and gradients stop here.
  std::function<Values(const GradientContext& context)> gradient{};

  /// How the operands are cast by policies. Default: all to the widest dtype of them, integers to the compute dtype.
  CastRule cast{{Cast::promote}, true, false};

  /// True: bfloat16 and float16 operands that `dtypes` doesn't list are computed as float32.
  bool widens = true;

  /// True: the kernel has an effect beside its outputs, so that a node is never dropped and never merged with an equal
  /// one. A kernel that may throw needs it: then it runs before any variable is updated.
  bool effect = false;
};

/// An op that a user's program adds. It is registered for the life of the process, obeys policies, and runs in traced
/// and eager steps like the library's own:
///
///     const CustomOp square({.name = "square",
///                            .kernel = [](const KernelCall& call) { ... },
///                            .gradient = [](const GradientContext& c) { return Values{c.cotangent() * 2 * c.input(0)};
///                            }});
///     Value y = square(x);
class CustomOp {
 public:
  /// A ValueError without name, or without exactly one of kernel and create; a NameError for the name of one of the
  /// library's ops. A second op of one name replaces the first for calls and op lists from then on.
  explicit CustomOp(const CustomOpOptions& options);

  /// Applies the op; `attributes` are what infer, gradient and kernel read.
  Values operator()(const Values& inputs, const Attributes& attributes = {}) const;

  /// The first output for one input.
  Value operator()(const Value& x, const Attributes& attributes = {}) const {
    return (*this)(Values{x}, attributes)[0];
  }

  const Op& op() const { return *op_; }

 private:
  const Op* op_;
};

}  // namespace mezzo
