#include <mezzo/nn/new_numbers.hpp>

#include <cmath>
#include <optional>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/code_formulas.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo::detail {
namespace {

/// Text of the first code outside of [lowest, limit]; "" if there is none.
std::string fault_of_codes(const char* of, const Tensor& codes, int lowest, int limit) {
  const auto* const data = codes.data<std::int8_t>();
  for (std::int64_t i = 0; i < codes.size(); ++i) {
    if (data[i] >= lowest && data[i] <= limit) continue;
    return fmt::format("of {} in [{}, {}]; got {}", of, lowest, limit, static_cast<int>(data[i]));
  }
  return {};
}

std::string fault_of_codes(const Quantization& form, const Tensor& codes) {
  const auto range = CodeRange<int>::of(form.packed());
  return fault_of_codes("a quantized weight must have codes", codes, form.nf4() ? 0 : range.lowest,
                        form.nf4() ? 15 : range.limit);
}

std::string fault_of_floats(const Tensor& numbers) {
  if (const std::optional<double> number = non_finite_number(numbers)) {
    return fmt::format("of a quantized weight must have finite numbers; got {}", *number);
  }
  if (numbers.dtype() != DType::float64 || !non_finite_number(numbers.cast(DType::float32))) return {};
  return "of a quantized weight must have numbers that are finite in float32; got larger ones";
}

std::string fault_of_scales(const Tensor& scales, bool may_be_zero) {
  for (const double scale : scales.to_doubles()) {
    if (std::isfinite(scale) && (scale > 0 || (may_be_zero && scale == 0))) continue;
    return fmt::format("of scales must have finite numbers {} 0; got {}", may_be_zero ? "of at least" : "above", scale);
  }
  return {};
}

}  // namespace

NewNumbers::NewNumbers(const std::vector<Variable>& weights) {
  const auto add = [&](const Shared<VariableState>& scale, bool may_be_zero) {
    if (scale.get() != nullptr) scales_[scale.get()] = may_be_zero;
  };
  for (const Variable& weight : weights) {
    if (const auto& form = weight.state()->quantization) {
      if (form->zero.get() != nullptr) zeros_.insert(form->zero.get());
      add(form->scale, form->nf4());  // of a block of zeros
      add(form->inputs_scale, true);  // before calibration
    }
    const auto& fake = weight.state()->fake;
    if (!fake) continue;
    add(fake->inputs_step, true);
    if (!fake->float8) continue;
    for (const DelayedScale& one : {fake->float8->inputs, fake->float8->kernel, fake->float8->outputs_grad}) {
      add(one.scale, false);
    }
  }
}

bool NewNumbers::restricts(const Variable& weight) const {
  return weight.quantized() || scales_.count(weight.id()) != 0 || zeros_.count(weight.id()) != 0;
}

std::string NewNumbers::fault(const Variable& weight, const Tensor& numbers) const {
  if (weight.quantized()) {
    return is_floating(numbers.dtype()) ? fault_of_floats(numbers)
                                        : fault_of_codes(*weight.state()->quantization, numbers);
  }
  if (zeros_.count(weight.id()) != 0) {
    const auto range = CodeRange<int>::of(true);
    return fault_of_codes("zero points must have numbers", numbers, range.lowest, range.limit);
  }
  const auto found = scales_.find(weight.id());
  return found == scales_.end() ? "" : fault_of_scales(numbers, found->second);
}

}  // namespace mezzo::detail
