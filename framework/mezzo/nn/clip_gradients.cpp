#include <mezzo/nn/clip_gradients.hpp>

#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

Value float64_number(double x) { return Value(Tensor::scalar(x, DType::float64)); }

/// Joint L2 norm, float64 of shape ().
Value norm_of(const Gradients& gradients) {
  Values operands{float64_number(1)};
  for (const Gradient& gradient : gradients) {
    if (gradient.value.defined()) operands.push_back(gradient.value);
  }
  // The op returns the sum of squares beside the factor if it clips.
  return sqrt(insert(ops::gradient_multiplier, operands, {{"clipnorm", 1.0}})[2]);
}

/// Applies a function to each gradient that is defined. Results have the dtype of the gradient.
template <class Function>
Gradients each(Gradients gradients, const Function& function) {
  for (Gradient& gradient : gradients) {
    if (gradient.value.defined()) gradient.value = function(gradient.value);
  }
  return gradients;
}

Gradients times(const Gradients& gradients, const Value& factor) {
  return each(gradients, [&](const Value& gradient) { return gradient * cast(factor, gradient.dtype()); });
}

}  // namespace

Value global_norm(const Gradients& gradients) {
  const detail::LibraryScope as_inserted;
  return cast(norm_of(gradients), DType::float32);
}

ClippedGradients clip_by_global_norm(const Gradients& gradients, double clip_norm) {
  const detail::LibraryScope as_inserted;
  if (!(clip_norm > 0) || !std::isfinite(clip_norm)) {
    fail<ValueError>("[clip_by_global_norm]", "clip_norm must be greater than 0 and finite; got {}", clip_norm);
  }
  const Value norm = norm_of(gradients);
  const Value factor = float64_number(clip_norm) / maximum(norm, float64_number(clip_norm));
  // Infinity would give zeros, which hide it.
  const Value seen = where(isfinite(norm), factor, float64_number(std::nan("")));
  return {times(gradients, seen), cast(norm, DType::float32)};
}

Value clip_grad_norm(Gradients& gradients, double max_norm) {
  const detail::LibraryScope as_inserted;
  if (!(max_norm >= 0)) fail<ValueError>("[clip_grad_norm]", "max_norm must be at least 0; got {}", max_norm);
  constexpr double margin = 1e-6;  // torch's
  const Value norm = norm_of(gradients);
  gradients = times(gradients, minimum(float64_number(max_norm) / (norm + float64_number(margin)), float64_number(1)));
  return cast(norm, DType::float32);
}

Gradients clip_by_value(const Gradients& gradients, double low, double high) {
  const detail::LibraryScope as_inserted;
  if (!(low <= high)) {
    fail<ValueError>("[clip_by_value]", "low must be at most high; got {} and {}", low, high);
  }
  return each(gradients, [&](const Value& gradient) {
    const auto bound = [&](double x) { return Value(Tensor::scalar(x, gradient.dtype())); };
    return clip(gradient, bound(low), bound(high));
  });
}

void add_gradients(Gradients& sum, const Gradients& more, double factor) {
  const detail::LibraryScope as_inserted;
  const auto scaled = [&](const Value& gradient) {
    return factor == 1 ? gradient : gradient * Value(Tensor::scalar(factor, gradient.dtype()));
  };
  if (sum.empty()) {
    sum = each(more, scaled);
    return;
  }
  if (sum.size() != more.size()) {
    fail<ValueError>("[add_gradients]", "both lists must have the same weights; got {} and {}", sum.size(),
                     more.size());
  }
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (sum[i].weight.id() != more[i].weight.id()) {
      fail<ValueError>("[add_gradients]", "both lists must have the same weights; got \"{}\" and \"{}\" at {}",
                       sum[i].path, more[i].path, i);
    }
    if (!more[i].value.defined()) continue;
    const Value term = scaled(more[i].value);
    sum[i].value = sum[i].value.defined() ? sum[i].value + term : term;
  }
}

}  // namespace mezzo
