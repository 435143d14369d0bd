#include <mezzo/backends/xsimd/update.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <mezzo/backends/reference/compact.hpp>
#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

/// What the optimizers share: a variable, its gradient, then slots, then scalars.
class Pass {
 public:
  Pass(const KernelRequest& request, std::size_t slots)
      : weight_decay(request.attributes.get<double>("weight_decay")),
        count_(element_count(request.inputs[0].shape)),
        slots_(slots),
        has_copy_(request.attributes.has("copy_dtype")),
        sizes_{size_of(request.inputs[0].dtype), size_of(request.inputs[1].dtype),
               size_of(request.attributes.get_or("copy_dtype", DType::float32))} {
    if (reference::has_compact_gradient(request)) {
      rows_ = request.inputs[0].shape.front();
      columns_ = reference::columns_of(request);
      places_ = request.inputs.size() - 1;
    }
    const double bound = request.attributes.get<double>("clipvalue");
    clip = bound != 0 ? static_cast<float>(bound) : std::numeric_limits<float>::infinity();
  }

  template <class Function, class Coefficients>
  void run(const KernelArguments& arguments, Function function, const Coefficients& coefficients) const {
    UpdateArrays arrays;
    arrays.variable = arguments.inputs[0];
    arrays.gradient = arguments.inputs[1];
    arrays.new_variable = arguments.outputs[0];
    for (std::size_t i = 0; i < slots_; ++i) {
      arrays.slots[i] = arguments.in<float>(2 + i);
      arrays.new_slots[i] = arguments.out<float>(1 + i);
    }
    if (has_copy_) arrays.copy = arguments.outputs[1 + slots_];
    if (columns_ > 0) {
      run_by_rows(arguments, arrays, function, coefficients);
      return;
    }
    parallel_elements(count_,
                      [&](std::int64_t begin, std::int64_t end) { function(arrays, coefficients, begin, end); });
  }

  /// Zeros that stand for the gradients of rows that a compact one lacks.
  std::size_t scratch_bytes() const { return static_cast<std::size_t>(zero_rows() * columns_ * sizes_.gradient); }

  double scalar(const KernelArguments& arguments, std::size_t i) const { return *arguments.in<double>(2 + slots_ + i); }

  float clip;
  double weight_decay;

 private:
  struct Sizes {
    std::int64_t variable, gradient, copy;  ///< of an element
  };

  /// Rows without a gradient that are updated together.
  std::int64_t zero_rows() const { return std::max<std::int64_t>(4096 / std::max<std::int64_t>(columns_, 1), 1); }

  /// What a pass reads and writes, from an element on.
  UpdateArrays from(const UpdateArrays& arrays, std::int64_t element) const {
    UpdateArrays out = arrays;
    out.variable = static_cast<const char*>(arrays.variable) + element * sizes_.variable;
    out.new_variable = static_cast<char*>(arrays.new_variable) + element * sizes_.variable;
    for (std::size_t i = 0; i < slots_; ++i) {
      out.slots[i] += element;
      out.new_slots[i] += element;
    }
    if (has_copy_) out.copy = static_cast<char*>(arrays.copy) + element * sizes_.copy;
    return out;
  }

  template <class Function, class Coefficients>
  void run_by_rows(const KernelArguments& arguments, const UpdateArrays& arrays, Function function,
                   const Coefficients& coefficients) const {
    std::memset(arguments.scratch, 0, scratch_bytes());
    const auto* places = arguments.in<std::int32_t>(places_);
    parallel_for(rows_, grain_of(columns_), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin, next = row; row < end; row = next) {
        UpdateArrays some = from(arrays, row * columns_);
        ++next;
        if (places[row] >= 0) {
          some.gradient = arguments.in<char>(1) + places[row] * columns_ * sizes_.gradient;
        } else {
          some.gradient = arguments.scratch;
          while (next < end && next - row < zero_rows() && places[next] < 0) ++next;
        }
        function(some, coefficients, 0, (next - row) * columns_);
      }
    });
  }

  std::int64_t count_;
  std::size_t slots_;
  bool has_copy_;
  Sizes sizes_;
  std::int64_t rows_ = 0, columns_ = 0;  // of a variable whose gradient is compact
  std::size_t places_ = 0;
};

/// The entry of a table for the request's dtypes; null and why if there is none.
template <class Function>
Function find(const UpdateFunctions::Table<Function>& table, const KernelRequest& request, std::string& reason) {
  const DType variable = request.inputs[0].dtype;
  const DType gradient = request.inputs[1].dtype;
  const DType copy = request.attributes.get_or("copy_dtype", DType::float32);
  for (const DType dtype : {variable, gradient, copy}) {
    if (is_stored(dtype)) continue;
    decline_dtype(reason, dtype);
    return nullptr;
  }
  if (request.attributes.has("copy_dtype") && (copy == DType::float32 || variable != DType::float32)) {
    reason = "copies only float32 variables, to bfloat16 or float16";
    return nullptr;
  }
  return table[storage_of(variable)][storage_of(gradient)][storage_of(copy)];
}

const UpdateFunctions& functions(Isa isa) {
  return pick(isa, sse2::update, avx2::update, avx512::update, avx512_bf16::update);
}

std::unique_ptr<Kernel> make_sgd(const KernelRequest& request, Isa isa, std::string& reason) {
  const auto momentum = static_cast<float>(request.attributes.get<double>("momentum"));
  const bool nesterov = request.attributes.get<bool>("nesterov");
  const auto function = find(momentum > 0 ? functions(isa).momentum : functions(isa).sgd, request, reason);
  if (function == nullptr) return nullptr;
  const Pass pass(request, momentum > 0 ? 1 : 0);
  const std::size_t scratch = pass.scratch_bytes();
  const auto run = [pass, function, momentum, nesterov](const KernelArguments& arguments) {
    const double rate = pass.scalar(arguments, 0);
    SgdCoefficients k{};
    k.multiplier = static_cast<float>(pass.scalar(arguments, 1));
    k.clip = pass.clip;
    k.decay = static_cast<float>(rate * pass.weight_decay);
    k.rate = static_cast<float>(rate);
    k.momentum = momentum;
    k.from_buffer = nesterov ? momentum : 1;
    k.from_gradient = nesterov ? k.rate : 0;
    pass.run(arguments, function, k);
  };
  return make_kernel(run, reference::overwritten_by_update(request), scratch);
}

std::unique_ptr<Kernel> make_adam(const KernelRequest& request, Isa isa, std::string& reason) {
  const auto function = find(functions(isa).adam, request, reason);
  if (function == nullptr) return nullptr;
  const double beta_1 = request.attributes.get<double>("beta_1");
  const double beta_2 = request.attributes.get<double>("beta_2");
  const auto epsilon = static_cast<float>(request.attributes.get<double>("epsilon"));
  const Pass pass(request, 2);
  const std::size_t scratch = pass.scratch_bytes();
  const auto run = [pass, function, beta_1, beta_2, epsilon](const KernelArguments& arguments) {
    const double rate = pass.scalar(arguments, 0);
    const double count = pass.scalar(arguments, 1);
    AdamCoefficients k{};
    k.multiplier = static_cast<float>(pass.scalar(arguments, 2));
    k.clip = pass.clip;
    k.decay = static_cast<float>(rate * pass.weight_decay);
    k.rate = static_cast<float>(rate * std::sqrt(1 - std::pow(beta_2, count)) / (1 - std::pow(beta_1, count)));
    k.rest_1 = static_cast<float>(1 - beta_1);
    k.rest_2 = static_cast<float>(1 - beta_2);
    k.epsilon = epsilon;
    pass.run(arguments, function, k);
  };
  return make_kernel(run, reference::overwritten_by_update(request), scratch);
}

}  // namespace

Entries update_entries() { return {entry<make_sgd>("sgd_update"), entry<make_adam>("adam_update")}; }

}  // namespace mezzo::xsimd_kernels
