#include <mezzo/backends/xsimd/update.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <mezzo/backends/common/update_request.hpp>
#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

/// What the optimizers share.
class Pass {
 public:
  explicit Pass(const UpdateRequest& request)
      : r_(request),
        sizes_{size_of(r_.variable), size_of(r_.gradient), size_of(r_.slot), size_of(r_.copy)},
        clip_(r_.clipvalue != 0 ? static_cast<float>(r_.clipvalue) : std::numeric_limits<float>::infinity()) {}

  /// `k` without what all optimizers have.
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

  /// Zeros that stand for the gradients of rows that a compact one lacks.
  std::size_t scratch_bytes() const { return static_cast<std::size_t>(zero_rows() * r_.columns * sizes_.gradient); }

  double number(const KernelArguments& arguments, std::size_t i) const { return r_.number(arguments, i); }

 private:
  struct Sizes {
    std::int64_t variable, gradient, slot, copy;  ///< of an element; what is beside a variable has its size
  };

  bool has_beside() const { return r_.kept == UpdateRequest::Kept::split || r_.kept == UpdateRequest::Kept::kahan; }

  /// Rows without a gradient that are updated together.
  std::int64_t zero_rows() const { return std::max<std::int64_t>(4096 / std::max<std::int64_t>(r_.columns, 1), 1); }

  /// What a pass reads and writes, from an element on.
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

/// Of a plain variable with its copy, or of one that is kept otherwise; `ways_of_keeping` if there is none.
KeptAs kept_as(const UpdateRequest& request) {
  using Kept = UpdateRequest::Kept;
  const DType v = request.variable, copy = request.copy;
  if (v == DType::float32 && request.kept == Kept::plain) {
    if (!request.has_copy) return plain_float32;
    return copy == DType::bfloat16  ? float32_with_bfloat16
           : copy == DType::float16 ? float32_with_float16
                                    : ways_of_keeping;
  }
  if (request.has_copy || (v != DType::bfloat16 && v != DType::float16)) return ways_of_keeping;
  const bool brain = v == DType::bfloat16;
  switch (request.kept) {
    case Kept::plain:
      return brain ? plain_bfloat16 : plain_float16;
    case Kept::split:
      return split_float32;
    case Kept::kahan:
      return brain ? kahan_bfloat16 : kahan_float16;
    case Kept::stochastic:
      break;
  }
  return stochastic_bfloat16;
}

/// The entry of a table for the request; null and why if there is none.
template <class Coefficients>
UpdateFunctions::Function<Coefficients> find(const UpdateFunctions::Table<Coefficients>& table,
                                             const UpdateRequest& request, std::string& reason) {
  for (const DType dtype : {request.variable, request.gradient, request.slot}) {
    if (is_stored(dtype)) continue;
    decline_dtype(reason, dtype);
    return nullptr;
  }
  const KeptAs kept = kept_as(request);
  if (kept == ways_of_keeping) {
    reason = "copies only float32 variables, to bfloat16 or float16";
    return nullptr;
  }
  const auto found = request.slot == DType::float16 || (request.slot == DType::bfloat16 && !request.random)
                         ? nullptr
                         : table[kept][request.slot == DType::bfloat16 ? 1 : 0][storage_of(request.gradient)];
  if (found == nullptr) reason = "not for these slots, or a gradient in another dtype than the variable's";
  return found;
}

const UpdateFunctions& functions(Isa isa) {
  return pick(isa, sse2::update, avx2::update, avx512::update, avx512_bf16::update);
}

std::unique_ptr<Kernel> make_sgd(const KernelRequest& request, Isa isa, std::string& reason) {
  const auto momentum = static_cast<float>(request.attributes.get<double>("momentum"));
  const bool nesterov = request.attributes.get<bool>("nesterov");
  const UpdateRequest read(request, momentum > 0 ? 1 : 0);
  const auto function = find(momentum > 0 ? functions(isa).momentum : functions(isa).sgd, read, reason);
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

std::unique_ptr<Kernel> make_adam(const KernelRequest& request, Isa isa, std::string& reason) {
  const UpdateRequest read(request, 2);
  const auto function = find(functions(isa).adam, read, reason);
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

Entries update_entries() { return {entry<make_sgd>("sgd_update"), entry<make_adam>("adam_update")}; }

}  // namespace mezzo::xsimd_kernels
