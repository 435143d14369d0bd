#include <mezzo/nn/input_products.hpp>

#include <algorithm>
#include <cmath>
#include <exception>

#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {
namespace {

/// Ends a run whose further inputs aren't needed.
struct EndOfRun : std::exception {};

/// The part of a thread's ExecutionContext.
struct InputProductsContext {
  InputSums* running = nullptr;
};

InputSums*& running_sums() { return ExecutionContext::current().part<InputProductsContext>().running; }

void require_finite_inputs(const Tensor& x, const std::string& kernel) {
  const auto* const numbers = x.data<float>();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(numbers[i])) continue;
    fail<ValueError>("[quantize gptq]", "inputs of {} must be finite; got {}", kernel, numbers[i]);
  }
}

}  // namespace

void InputSums::add(const std::vector<std::function<void()>>& runs, std::optional<std::size_t> group, bool stops) {
  sums_.clear();
  group_ = group;
  stops_ = stops;
  const ScopedValue<InputSums*> scope(running_sums(), this);
  for (const auto& run : runs) {
    seen_.clear();
    try {
      run();
    } catch (const EndOfRun&) {  // all inputs of the group are known
    }
  }
}

const InputProducts& InputSums::of(const VariableState& kernel) const {
  static const auto* const none = new InputProducts;
  const auto found = sums_.find(&kernel);
  return found == sums_.end() ? *none : found->second;
}

/// Place of a group in the order, at its end for a new one.
std::size_t InputSums::place_of(std::size_t group) {
  const auto found = std::find(order_.begin(), order_.end(), group);
  const auto place = static_cast<std::size_t>(found - order_.begin());
  if (found == order_.end()) order_.push_back(group);
  return place;
}

/// True if all kernels of the group have had all of their inputs in this run. A layer may be called again behind
/// others.
bool InputSums::knows_group() const {
  return std::all_of(groups_.begin(), groups_.end(), [&](const auto& one) {
    if (one.second != *group_) return true;
    const auto seen = seen_.find(one.first), all = calls_.find(one.first);
    return seen != seen_.end() && all != calls_.end() && seen->second >= all->second;
  });
}

void InputSums::note(const Value& x, const VariableState& kernel) {
  const std::size_t group = groups_.at(&kernel), place = place_of(group), seen = ++seen_[&kernel];
  if (!stops_) calls_[&kernel] = std::max(calls_[&kernel], seen);
  if (!group_) group_ = group;
  if (group != *group_) {
    if (stops_ && place > place_of(*group_) && knows_group()) throw EndOfRun();
    return;
  }
  const std::int64_t inputs = x.shape().back();
  const Tensor numbers = x.tensor().cast(DType::float32);
  require_finite_inputs(numbers, kernel.name);
  if (numbers.size() == 0) return;
  const LibraryScope in_float32;
  const Value rows(numbers.reshape({numbers.size() / inputs, inputs}));
  const Tensor product = matmul(rows, rows, {.transpose_a = true}).tensor().cast(DType::float64);
  InputProducts& of = sums_[&kernel];
  if (of.rows == 0) of.sum = Tensor({inputs, inputs}, DType::float64);
  of.rows += rows.shape()[0];
  const auto* const from = product.data<double>();
  auto* const to = of.sum.mutable_data<double>();
  for (std::int64_t i = 0; i < product.size(); ++i) to[i] += from[i];
}

bool adds_input_products(const VariableState& kernel) {
  return running_sums() != nullptr && running_sums()->has(kernel);
}

void note_product(const Value& x, const VariableState& kernel) {
  if (!adds_input_products(kernel) || x.symbolic()) return;
  running_sums()->note(x, kernel);
}

}  // namespace mezzo::detail
