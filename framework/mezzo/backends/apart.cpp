#include <algorithm>
#include <utility>

#include <mezzo/backends/common/epilogue.hpp>
#include <mezzo/backends/table.hpp>
#include <mezzo/graph/attributes_without.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// The best kernel of a product with its bias, then of an addition and a ReLU in place.
class Apart final : public Kernel {
 public:
  explicit Apart(const KernelRequest& request) : residual_(residual_of(request)) {
    const Spec& y = request.outputs[0];
    KernelRequest product = request;
    product.attributes = detail::without(request.attributes, {"residual", "epilogue", "max_value"});
    if (residual_) product.inputs.erase(product.inputs.begin() + static_cast<std::ptrdiff_t>(*residual_));
    product_ = choose_kernel(product);
    if (residual_) {
      add_ =
          choose_kernel({.op = &ops::add, .attributes = {}, .inputs = {y, y}, .outputs = {y}, .where = request.where})
              .kernel;
    }
    if (!has_relu(request)) return;
    Attributes limits;
    if (request.attributes.has("max_value")) limits.set("max_value", request.attributes.get<double>("max_value"));
    relu_ =
        choose_kernel(
            {.op = &ops::relu, .attributes = std::move(limits), .inputs = {y}, .outputs = {y}, .where = request.where})
            .kernel;
  }

  void run(const KernelArguments& arguments) override {
    product_.kernel->run(arguments);
    const void* const y = arguments.outputs[0];
    if (add_) {
      const void* const terms[] = {y, arguments.inputs[*residual_]};
      add_->run({terms, arguments.outputs, arguments.scratch});
    }
    if (relu_) relu_->run({&y, arguments.outputs, arguments.scratch});
  }

  std::size_t scratch_bytes() const override {
    return std::max(
        {product_.kernel->scratch_bytes(), add_ ? add_->scratch_bytes() : 0, relu_ ? relu_->scratch_bytes() : 0});
  }

  std::string detail() const override { return product_.implementation + ", epilogue apart"; }

 private:
  const std::optional<std::size_t> residual_;
  detail::ChosenKernel product_;
  std::unique_ptr<Kernel> add_, relu_;
};

std::unique_ptr<Kernel> create_apart(const KernelRequest& request, std::string& /*reason*/) {
  return has_wide_epilogue(request) ? std::make_unique<Apart>(request) : nullptr;
}

}  // namespace

std::vector<detail::Implementation> apart_implementations() {
  return {{"apart", &ops::conv2d, create_apart, true}, {"apart", &ops::matmul, create_apart, true}};
}

std::vector<detail::Implementation> without_wide_epilogues(std::vector<detail::Implementation> list) {
  for (detail::Implementation& implementation : list) {
    if (implementation.op != &ops::conv2d && implementation.op != &ops::matmul) continue;
    implementation.create = [create = std::move(implementation.create)](
                                const KernelRequest& request, std::string& reason) -> std::unique_ptr<Kernel> {
      if (has_wide_epilogue(request)) return decline(reason, "takes neither a residual nor an upper limit of a ReLU");
      return create(request, reason);
    };
  }
  return list;
}

}  // namespace mezzo
