#include <mezzo/backends/xsimd/update.hpp>

#include <cmath>

#include <mezzo/backends/common/update_request.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/update_pass.hpp>

namespace mezzo::xsimd_kernels {
namespace {

/// The function of a table for the request. Returns null and sets the reason if there is none.
template <class Table>
typename Table::Function find(const Table& table, const UpdateRequest& request, std::string& reason) {
  if (request.coded && request.columns > 0) {
    decline(reason, "takes whole gradients with slots in 8 bits");
    return nullptr;
  }
  for (const DType dtype : {request.variable, request.gradient, request.coded ? DType::float32 : request.slot}) {
    if (is_stored(dtype)) continue;
    decline_dtype(reason, dtype);
    return nullptr;
  }
  const auto* functions = by_storage(table, request);
  if (functions == nullptr) {
    decline(reason, "copies float32 variables to bfloat16 or float16; got a {} variable and a {} copy",
            request.variable, request.copy);
    return nullptr;
  }
  typename Table::Function found = nullptr;
  if (request.slot == DType::float32 || request.coded) found = functions->float32[request.gradient];
  if (request.slot == DType::bfloat16 && request.random) found = functions->bfloat16[request.gradient];
  if (found == nullptr) {
    decline(reason,
            "takes float32 or 8-bit slots, or bfloat16 slots rounded stochastically with a gradient in the variable's "
            "dtype; "
            "got variable {}, gradient {}, slots {}",
            request.variable, request.gradient, request.slot);
  }
  return found;
}

std::unique_ptr<Kernel> make_sgd_update(const KernelRequest& request, Isa isa, std::string& reason) {
  const auto momentum = static_cast<float>(request.attributes.get<double>("momentum"));
  const bool nesterov = request.attributes.get<bool>("nesterov");
  const UpdateRequest read(request, momentum > 0 ? 1 : 0);
  const auto function = find(momentum > 0 ? kernels(isa).update.momentum : kernels(isa).update.sgd, read, reason);
  if (function == nullptr) return nullptr;
  const UpdatePass pass(read, kernels(isa).update);
  const auto run = [pass, function, momentum, nesterov](const KernelArguments& arguments) {
    const double rate = pass.number(arguments, 0);
    SgdCoefficients k{};
    k.rate = static_cast<float>(rate);
    k.momentum = momentum;
    k.from_buffer = nesterov ? momentum : 1;
    k.from_gradient = nesterov ? k.rate : 0;
    pass.run(arguments, function, k, rate, pass.number(arguments, 1));
  };
  return make_kernel(run, overwritten_by_update(request), pass.scratch_bytes());
}

std::unique_ptr<Kernel> make_adam_update(const KernelRequest& request, Isa isa, std::string& reason) {
  const UpdateRequest read(request, 2);
  const auto function = find(kernels(isa).update.adam, read, reason);
  if (function == nullptr) return nullptr;
  const double beta_1 = request.attributes.get<double>("beta_1");
  const double beta_2 = request.attributes.get<double>("beta_2");
  const auto epsilon = static_cast<float>(request.attributes.get<double>("epsilon"));
  const UpdatePass pass(read, kernels(isa).update);
  const auto run = [pass, function, beta_1, beta_2, epsilon](const KernelArguments& arguments) {
    const double rate = pass.number(arguments, 0);
    const double count = pass.number(arguments, 1);
    AdamCoefficients k{};
    k.rate = static_cast<float>(rate * std::sqrt(1 - std::pow(beta_2, count)) / (1 - std::pow(beta_1, count)));
    k.rest_1 = static_cast<float>(1 - beta_1);
    k.rest_2 = static_cast<float>(1 - beta_2);
    k.epsilon = epsilon;
    pass.run(arguments, function, k, rate, pass.number(arguments, 2));
  };
  return make_kernel(run, overwritten_by_update(request), pass.scratch_bytes());
}

}  // namespace

Entries update_entries() { return {entry<make_sgd_update>("sgd_update"), entry<make_adam_update>("adam_update")}; }

}  // namespace mezzo::xsimd_kernels
