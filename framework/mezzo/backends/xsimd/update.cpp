#include <mezzo/backends/xsimd/update.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <mezzo/backends/common/update_request.hpp>
#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

/// Runs a function of an optimizer over the elements of a variable.
class Pass {
 public:
  explicit Pass(const UpdateRequest& request)
      : r_(request),
        sizes_{size_of(r_.variable), size_of(r_.gradient), size_of(r_.slot), size_of(r_.copy)},
        clip_(r_.clipvalue != 0 ? static_cast<float>(r_.clipvalue) : std::numeric_limits<float>::infinity()) {}

  /// `k`: coefficients; sets the ones that all optimizers have.
  template <class Function, class Coefficients>
  void run(const KernelArguments& arguments, Function function, Coefficients k, double rate, double multiplier) const {
    k.multiplier = static_cast<float>(multiplier);
    k.clip = clip_;
    k.decay = static_cast<float>(rate * r_.weight_decay);
    UpdateArrays arrays;
    arrays.variable = arguments.inputs[0];
    arrays.gradient = arguments.inputs[1];
    arrays.new_variable = arguments.outputs[0];
    for (std::size_t i = 0; i < r_.slots; ++i) {
      arrays.slots[i] = arguments.inputs[2 + i];
      arrays.new_slots[i] = arguments.outputs[1 + i];
    }
    if (has_beside()) {
      arrays.beside = arguments.inputs[r_.beside];
      arrays.new_beside = arguments.outputs[r_.beside - 1];
    }
    if (r_.has_copy) arrays.copy = arguments.outputs[1 + r_.slots];
    arrays.slot_stream = r_.slot_stream(arguments);
    arrays.variable_stream = r_.variable_stream(arguments);
    if (r_.columns > 0) {
      run_by_rows(arguments, arrays, function, k);
      return;
    }
    parallel_elements(r_.count, [&](std::int64_t begin, std::int64_t end) { function(arrays, k, begin, end); });
  }

  /// Memory for zeros: the gradient of the rows that a compact gradient doesn't contain.
  std::size_t scratch_bytes() const { return static_cast<std::size_t>(zero_rows() * r_.columns * sizes_.gradient); }

  double number(const KernelArguments& arguments, std::size_t i) const { return r_.number(arguments, i); }

 private:
  struct Sizes {
    std::int64_t variable, gradient, slot, copy;  ///< bytes per element; a remainder or compensation has the variable's
  };

  bool has_beside() const { return r_.kept == UpdateRequest::Kept::split || r_.kept == UpdateRequest::Kept::kahan; }

  /// Largest number of rows without a gradient that are updated together.
  std::int64_t zero_rows() const { return std::max<std::int64_t>(4096 / std::max<std::int64_t>(r_.columns, 1), 1); }

  /// The arrays from an element on.
  UpdateArrays from(const UpdateArrays& arrays, std::int64_t element) const {
    const auto in = [&](const void* p, std::int64_t size) { return static_cast<const char*>(p) + element * size; };
    const auto out = [&](void* p, std::int64_t size) { return static_cast<char*>(p) + element * size; };
    UpdateArrays some = arrays;
    some.first = element;
    some.variable = in(arrays.variable, sizes_.variable);
    some.new_variable = out(arrays.new_variable, sizes_.variable);
    for (std::size_t i = 0; i < r_.slots; ++i) {
      some.slots[i] = in(arrays.slots[i], sizes_.slot);
      some.new_slots[i] = out(arrays.new_slots[i], sizes_.slot);
    }
    if (has_beside()) {
      some.beside = in(arrays.beside, sizes_.variable);
      some.new_beside = out(arrays.new_beside, sizes_.variable);
    }
    if (r_.has_copy) some.copy = out(arrays.copy, sizes_.copy);
    return some;
  }

  template <class Function, class Coefficients>
  void run_by_rows(const KernelArguments& arguments, const UpdateArrays& arrays, Function function,
                   const Coefficients& coefficients) const {
    std::memset(arguments.scratch, 0, scratch_bytes());
    const auto* places = arguments.in<std::int32_t>(r_.places);
    parallel_for(r_.rows, grain_of(r_.columns), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin, next = row; row < end; row = next) {
        UpdateArrays some = from(arrays, row * r_.columns);
        ++next;
        if (places[row] >= 0) {
          some.gradient = arguments.in<char>(1) + places[row] * r_.columns * sizes_.gradient;
        } else {
          some.gradient = arguments.scratch;
          while (next < end && next - row < zero_rows() && places[next] < 0) ++next;
        }
        function(some, coefficients, 0, (next - row) * r_.columns);
      }
    });
  }

  UpdateRequest r_;
  Sizes sizes_;
  float clip_;
};

/// The functions for the way in which the variable is kept and copied, or null.
template <class Table>
const typename Table::BySlots* by_slots(const Table& table, const UpdateRequest& request) {
  using Kept = UpdateRequest::Kept;
  const DType v = request.variable, copy = request.copy;
  if (v == DType::float32 && request.kept == Kept::plain) {
    if (!request.has_copy) return &table.plain_float32;
    return copy == DType::bfloat16  ? &table.float32_with_bfloat16_copy
           : copy == DType::float16 ? &table.float32_with_float16_copy
                                    : nullptr;
  }
  if (request.has_copy || !is_half(v)) return nullptr;
  const bool is_bfloat16 = v == DType::bfloat16;
  switch (request.kept) {
    case Kept::plain:
      return is_bfloat16 ? &table.plain_bfloat16 : &table.plain_float16;
    case Kept::split:
      return &table.split_float32;
    case Kept::kahan:
      return is_bfloat16 ? &table.kahan_bfloat16 : &table.kahan_float16;
    case Kept::stochastic:
      break;
  }
  return &table.stochastic_bfloat16;
}

/// The function of a table for the request. Returns null and sets the reason if there is none.
template <class Table>
typename Table::Function find(const Table& table, const UpdateRequest& request, std::string& reason) {
  for (const DType dtype : {request.variable, request.gradient, request.slot}) {
    if (is_stored(dtype)) continue;
    decline_dtype(reason, dtype);
    return nullptr;
  }
  const auto* functions = by_slots(table, request);
  if (functions == nullptr) {
    decline(reason, "copies float32 variables to bfloat16 or float16; got a {} variable and a {} copy",
            request.variable, request.copy);
    return nullptr;
  }
  typename Table::Function found = nullptr;
  if (request.slot == DType::float32) found = functions->float32[request.gradient];
  if (request.slot == DType::bfloat16 && request.random) found = functions->bfloat16[request.gradient];
  if (found == nullptr) {
    decline(reason,
            "takes float32 slots, or bfloat16 slots rounded stochastically with a gradient in the variable's dtype; "
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
  const Pass pass(read);
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
  const Pass pass(read);
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
