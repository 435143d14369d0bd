#include <mezzo/core/dynamic_code.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

using detail::DynamicCode;

/// True for codes of slots in 8 bits.
bool is_coded(DType slot) { return slot == DType::int8 || slot == DType::uint8; }

void require_like_variable(const OpCall& call, std::size_t i) {
  if (call.inputs[i].shape != call.inputs[0].shape) {
    fail<ShapeError>(call.where, "gradient and slots must have the variable's shape {}; got {}", call.inputs[0].shape,
                     call.inputs[i].shape);
  }
}

/// Specs of the outputs: the variable, its slots, its remainder or compensation if it has one, the scales of slots in 8
/// bits, and its copy.
std::vector<Spec> outputs_of(const OpCall& call, std::size_t slots) {
  std::vector<Spec> outputs{call.inputs[0]};
  for (std::size_t i = 2; i < 2 + slots; ++i) outputs.push_back(call.inputs[i]);
  const auto kept = call.attributes.get_or("kept", detail::Kept::plain);
  if (kept == detail::Kept::split || kept == detail::Kept::kahan) {
    const Spec beside{call.inputs[0].shape, kept == detail::Kept::split ? DType::int16 : call.inputs[0].dtype};
    if (call.inputs[2 + slots] != beside) {
      fail<ShapeError>(call.where, "{} of the variable must be {}; got {}",
                       kept == detail::Kept::split ? "remainder" : "compensation", to_string(beside),
                       to_string(call.inputs[2 + slots]));
    }
    outputs.push_back(beside);
  }
  if (slots > 0 && is_coded(call.inputs[2].dtype)) {
    const Spec scales{{DynamicCode::blocks_of(element_count(call.inputs[2].shape))}, DType::float32};
    const std::size_t first = outputs.size() + 1;
    for (std::size_t i = first; i < first + slots; ++i) {
      if (call.inputs[i] != scales) {
        fail<ShapeError>(call.where, "scales of slots in 8 bits must be {}; got {}", to_string(scales),
                         to_string(call.inputs[i]));
      }
      outputs.push_back(scales);
    }
  }
  if (call.attributes.has("copy_dtype")) {
    outputs.push_back({call.inputs[0].shape, call.attributes.get<DType>("copy_dtype")});
  }
  return outputs;
}

/// The same, with slots of the variable's shape.
std::vector<Spec> updated(const OpCall& call, std::size_t slots) {
  for (std::size_t i = 2; i < 2 + slots; ++i) require_like_variable(call, i);
  return outputs_of(call, slots);
}

/// Checks that the gradient has the variable's shape or, if `compact`, some of its rows with places in the last input.
void check_gradient(const OpCall& call) {
  if (!call.attributes.get_or<bool>("compact", false)) {
    require_like_variable(call, 1);
    return;
  }
  const Shape& variable = call.inputs[0].shape;
  Shape rows = call.inputs[1].shape;
  const Spec& places = call.inputs.back();
  if (!rows.empty() && !variable.empty()) rows.front() = variable.front();
  if (variable.empty() || rows != variable) {
    fail<ShapeError>(call.where, "a compact gradient must hold rows of the variable's shape {}; got {}", variable,
                     call.inputs[1].shape);
  }
  if (places != Spec{{variable.front()}, DType::int32}) {
    fail<ShapeError>(call.where, "a compact gradient's places must be {}; got {}",
                     to_string(Spec{{variable.front()}, DType::int32}), to_string(places));
  }
}

std::vector<Spec> infer_sgd(const OpCall& call) {
  check_gradient(call);
  return updated(call, call.attributes.get<double>("momentum") > 0 ? 1 : 0);
}

std::vector<Spec> infer_adam(const OpCall& call) {
  check_gradient(call);
  return updated(call, 2);
}

std::vector<Spec> infer_optimizer(const OpCall& call) {
  check_gradient(call);
  return updated(call, static_cast<std::size_t>(call.attributes.get<std::int64_t>("slots")));
}

std::vector<Spec> infer_adafactor(const OpCall& call) {
  require_like_variable(call, 1);
  const Shape& shape = call.inputs[0].shape;
  if (shape.size() < 2) return updated(call, 1);
  Shape rows = shape, columns = shape;
  rows.pop_back();
  columns.erase(columns.end() - 2);
  if (call.inputs[2].shape != rows || call.inputs[3].shape != columns) {
    fail<ShapeError>(call.where, "row and column means must be {} and {}; got {} and {}", rows, columns,
                     call.inputs[2].shape, call.inputs[3].shape);
  }
  return outputs_of(call, 2);
}

std::vector<Spec> infer_join(const OpCall& call) {
  const Shape& shape = call.inputs[0].shape;
  if (call.inputs[0].dtype != DType::bfloat16 || call.inputs[1] != Spec{shape, DType::int16}) {
    fail<ShapeError>(call.where, "halves must be bfloat16 and int16 of one shape; got {} and {}",
                     to_string(call.inputs[0]), to_string(call.inputs[1]));
  }
  return {{shape, DType::float32}};
}

std::vector<Spec> infer_split_master(const OpCall& call) {
  if (call.inputs[0].dtype != DType::float32) {
    fail<DTypeError>(call.where, "the variable must be float32; got {}", to_string(call.inputs[0]));
  }
  return {{call.inputs[0].shape, DType::bfloat16}, {call.inputs[0].shape, DType::int16}};
}

std::vector<Spec> infer_all_finite(const OpCall& call) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) detail::require_float(call, i);
  return {{{}, DType::boolean}};
}

std::vector<Spec> infer_multiplier(const OpCall& call) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) detail::require_float(call, i);
  return {{{}, DType::float64}, {{}, DType::boolean}, {{}, DType::float64}};
}

Op update_op(std::vector<Spec> (*infer)(const OpCall&)) {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer;
  return op;
}

}  // namespace

Op detail::define_sgd_update() {
  Op op = update_op(infer_sgd);
  op.in_place = {0, 2, 3, 4};
  return op;
}

Op detail::define_adam_update() {
  Op op = update_op(infer_adam);
  op.in_place = {0, 2, 3, 4, 5, 6};
  return op;
}

Op detail::define_optimizer_update() {
  Op op = update_op(infer_optimizer);
  op.in_place = {0, 2, 3, 4, 5, 6, 7, 8};
  return op;
}

Op detail::define_adafactor_update() {
  Op op = update_op(infer_adafactor);
  op.in_place = {0, 2, 3, 4};
  return op;
}

Op detail::define_join_master() { return update_op(infer_join); }
Op detail::define_split_master() { return update_op(infer_split_master); }
Op detail::define_all_finite() { return update_op(infer_all_finite); }
Op detail::define_gradient_multiplier() { return update_op(infer_multiplier); }

}  // namespace mezzo
