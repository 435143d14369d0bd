#include <mezzo/nn/fake_product.hpp>

#include <memory>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/graph/read_codes.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/nn/calibrate.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {
namespace {

/// Step for the inputs of this call. In training it moves towards the largest magnitude of the batch, by torch's
/// averaging_constant of MovingAverageMinMaxObserver; batches with NaN or infinity don't move it. The first batch with
/// a number other than 0 starts it.
Value observed_step(const Value& x, const std::shared_ptr<VariableState>& step) {
  constexpr double averaging_constant = 0.01;
  const Value before = read_variable(step);
  if (!training_phase() || !current_trainable()) return before;
  const LibraryScope in_float32;
  const Value most = max(abs(cast(stop_gradient(x), DType::float32)));
  const Value now = (most + 1e-7) / 127.0;
  const Value moved =
      where(before == 0.0, where(most == 0.0, before, now), before + (now - before) * averaging_constant);
  const Value kept = where(isfinite(most), moved, before);
  update_in_training(step, kept);
  return kept;
}

/// Inputs of op, rounded with one step, or without one by each_by_itself().
template <class Function>
Value rounded(const Value& x, const Variable& weight, const Op& op, const Function& each_by_itself) {
  const auto& fake = weight.state()->fake;
  if (!fake || fake->form.inputs == QuantizedInputs::floats) return x;
  const Value operand = as(x, operand_dtype(op, x));
  if (fake->inputs_step.get() == nullptr) return each_by_itself(operand);
  if (note_inputs(operand, *weight.state())) return x;
  const std::shared_ptr<VariableState>& step = fake->inputs_step.pointer();
  if (!fake->form.learned) return rounded_by_step(operand, observed_step(operand, step));
  if (training_phase() && step->value.item() == 0) {
    fail<ValueError>(current_label("fake_quantize"), "learned ranges of {} need calibrate() before training",
                     weight.name());
  }
  return rounded_by_step(operand, read_variable(step));
}

}  // namespace

Value rounded_inputs(const Value& x, const Variable& weight) { return rounded(x, weight, ops::matmul, rounded_by_row); }

Value rounded_images(const Value& x, const Variable& weight) {
  return rounded(x, weight, ops::conv2d, [](const Value& images) {
    const Shape shape = images.shape();
    return reshape(rounded_by_row(reshape(images, {shape[0], shape[1] * shape[2] * shape[3]})), shape);
  });
}

Value rounded_table_rows(const Value& indices, const Variable& table) {
  const std::shared_ptr<VariableState>& state = table.state().pointer();
  const DType dtype = dequantized_dtype(*state);
  const LibraryScope in_stored_dtype;
  return as(rounded_rows(gather(read_unrounded(state), indices), *state->fake), dtype);
}

}  // namespace mezzo::detail
