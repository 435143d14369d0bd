#include <mezzo/layers/normalization/spectral_normalization.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/graph/replaced_variable.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/initializers/truncated_normal.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/helpers.hpp>

namespace mezzo {
namespace {

/// x divided by its norm.
Value unit(const Value& x) { return x * rsqrt(maximum(sum(x * x), 1e-14)); }

/// The kernel divided by its largest singular value, and the next vector u. In inference, u stays.
Values spectrally_normalized(const Value& kernel, const Value& vector_u, std::int64_t iterations) {
  const detail::LibraryScope as_inserted;
  const Value wide = detail::as(kernel.across_border(false), vector_u.dtype());
  const Value matrix = reshape(wide, {-1, kernel.shape().back()});
  const Value fixed = stop_gradient(matrix);
  Value u = vector_u.across_border(false), v;
  if (detail::training_phase()) {
    for (std::int64_t i = 0; i < iterations; ++i) {
      v = unit(matmul(u, fixed, {.transpose_b = true}));
      u = unit(matmul(v, fixed));
    }
  } else {
    v = unit(matmul(u, fixed, {.transpose_b = true}));
  }
  const Value next = u;
  const Value largest = reshape(matmul(matmul(v, matrix), u, {.transpose_b = true}), {});
  const Value zero = all(equal(fixed, 0.0));  // a kernel of zeros stays, and so does u
  return {wide / where(zero, 1.0, largest), where(zero, vector_u.across_border(false), next)};
}

}  // namespace

void Wrapper::require_layer() const {
  if (!layer_) fail<ValueError>(label(), "layer is required; got none");
}

void Wrapper::build(const Shape& input) {
  auto node = std::make_shared<detail::Node>();
  node->op = &input_op();
  node->where = label();
  node->outputs = {Spec{input, DType::float32}};
  const OutsideTrace symbols_only;
  (*layer_)(Value(node, 0));
}

SpectralNormalization::SpectralNormalization(const SpectralNormalizationOptions& options)
    : Wrapper("SpectralNormalization", options), power_iterations_(options.power_iterations) {
  detail::require_positive(label(), "power_iterations", power_iterations_);
}

void SpectralNormalization::build(const Shape& input) {
  if (!layer()->state()->called) Wrapper::build(input);
  const Variable* found = nullptr;
  for (const char* name : {"kernel", "embeddings"}) {
    for (const Variable& weight : layer()->state()->weights) {
      if (found == nullptr && weight.name() == name) found = &weight;
    }
  }
  if (found == nullptr) {
    fail<ValueError>(label(), "the layer must have a weight \"kernel\" or \"embeddings\"; got a {} without",
                     layer()->state()->kind);
  }
  kernel_ = *found;
  add_weight(vector_u_, {.shape = {1, kernel_.shape().back()},
                         .initializer = TruncatedNormal({.stddev = 0.02}),
                         .trainable = false,
                         .autocast = false,
                         .at_least_float32 = true});
}

Value SpectralNormalization::call(const Value& x) {
  const auto run = [iterations = power_iterations_](const Values& xs) {
    return spectrally_normalized(xs[0], xs[1], iterations);
  };
  const Spec kernel{kernel_.shape(), accumulation_dtype(kernel_.dtype())}, vector{vector_u_.shape(), vector_u_.dtype()};
  const Values out = detail::defer(run, {kernel_, vector_u_}, {kernel, vector});
  update(vector_u_, out[1]);
  const ReplacedVariable replaced(kernel_.state().pointer(), out[0]);
  return layer()(x);
}

}  // namespace mezzo
