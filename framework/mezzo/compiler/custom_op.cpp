#include <mezzo/compiler/custom_op.hpp>

#include <algorithm>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/op_registry.hpp>

namespace mezzo {
namespace {

/// Calls the `kernel` function of the options.
class FunctionKernel final : public Kernel {
 public:
  FunctionKernel(KernelRequest request, std::function<void(const KernelCall&)> function)
      : request_(std::move(request)), function_(std::move(function)) {}
  void run(const KernelArguments& arguments) override { function_({request_, arguments}); }

 private:
  const KernelRequest request_;
  const std::function<void(const KernelCall&)> function_;
};

std::vector<Spec> like_first_input(const OpCall& call) {
  if (call.inputs.empty() || !is_floating(call.inputs[0].dtype)) {
    fail<DTypeError>(call.where, "input 0 must be floating; got {}",
                     call.inputs.empty() ? "no input" : dtype_name(call.inputs[0].dtype));
  }
  return {call.inputs[0]};
}

decltype(detail::Implementation::create) creator_of(const CustomOpOptions& options) {
  if (options.create) return options.create;
  return [function = options.kernel, dtypes = options.dtypes](const KernelRequest& request,
                                                              std::string& reason) -> std::unique_ptr<Kernel> {
    const bool known =
        request.inputs.empty() || std::find(dtypes.begin(), dtypes.end(), request.inputs[0].dtype) != dtypes.end();
    if (known) return std::make_unique<FunctionKernel>(request, function);
    reason = fmt::format("dtypes has no {}", request.inputs[0].dtype);
    return nullptr;
  };
}

}  // namespace

CustomOp::CustomOp(const CustomOpOptions& options) {
  if (options.name.empty()) fail<ValueError>("[CustomOp]", "name must be given; got \"\"");
  const std::string where = fmt::format("[CustomOp \"{}\"]", options.name);
  if (static_cast<bool>(options.kernel) == static_cast<bool>(options.create)) {
    fail<ValueError>(where, "exactly one of kernel and create must be given; got {}", options.kernel ? "both" : "none");
  }
  auto op = std::make_unique<Op>();
  op->name = options.name;
  op->cast = options.cast;
  op->infer = options.infer ? options.infer : like_first_input;
  op->gradient = options.gradient;
  op->effect = options.effect;
  op->widens = options.widens;
  op_ = &register_op(std::move(op));
  if (options.widens) register_kernel({.name = "widen", .op = op_, .create = widening()});
  register_kernel({.name = "custom", .op = op_, .create = creator_of(options)});
}

Values CustomOp::operator()(const Values& inputs, const Attributes& attributes) const {
  return insert(*op_, inputs, attributes);
}

}  // namespace mezzo
