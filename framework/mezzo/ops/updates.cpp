#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/table.hpp>

namespace mezzo {
namespace {

void require_like_variable(const OpCall& call, std::size_t i) {
  if (call.inputs[i].shape != call.inputs[0].shape) {
    throw ShapeError(call.where + " gradient and slots must have the variable's shape " +
                     to_string(call.inputs[0].shape) + "; got " + to_string(call.inputs[i].shape));
  }
}

/// The variable and its slots, what it is kept in beside, and its copy.
std::vector<Spec> updated(const OpCall& call, std::size_t slots) {
  std::vector<Spec> outputs{call.inputs[0]};
  for (std::size_t i = 2; i < 2 + slots; ++i) {
    require_like_variable(call, i);
    outputs.push_back(call.inputs[i]);
  }
  const auto kept = call.attributes.get_or<std::string>("kept", "");
  if (kept == "split" || kept == "kahan") {
    const Spec beside{call.inputs[0].shape, kept == "split" ? DType::int16 : call.inputs[0].dtype};
    if (call.inputs[2 + slots] != beside) {
      throw ShapeError(call.where + " beside a variable that is kept by \"" + kept + "\" must be " + to_string(beside) +
                       "; got " + to_string(call.inputs[2 + slots]));
    }
    outputs.push_back(beside);
  }
  if (call.attributes.has("copy_dtype")) {
    outputs.push_back({call.inputs[0].shape, call.attributes.get<DType>("copy_dtype")});
  }
  return outputs;
}

/// Of the variable's shape, or with `compact` some of its rows, whose places are in the last input.
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
    throw ShapeError(call.where + " a compact gradient must hold rows of the variable's shape " + to_string(variable) +
                     "; got " + to_string(call.inputs[1].shape));
  }
  if (places != Spec{{variable.front()}, DType::int32}) {
    throw ShapeError(call.where + " a compact gradient's places must be " +
                     to_string(Spec{{variable.front()}, DType::int32}) + "; got " + to_string(places));
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

std::vector<Spec> infer_join(const OpCall& call) {
  const Shape& shape = call.inputs[0].shape;
  if (call.inputs[0].dtype != DType::bfloat16 || call.inputs[1] != Spec{shape, DType::int16}) {
    throw ShapeError(call.where + " halves must be bfloat16 and int16 of one shape; got " + to_string(call.inputs[0]) +
                     " and " + to_string(call.inputs[1]));
  }
  return {{shape, DType::float32}};
}

std::vector<Spec> infer_split(const OpCall& call) {
  if (call.inputs[0].dtype != DType::float32) {
    throw DTypeError(call.where + " only float32 is split; got " + to_string(call.inputs[0]));
  }
  return {{call.inputs[0].shape, DType::bfloat16}, {call.inputs[0].shape, DType::int16}};
}

std::vector<Spec> infer_all_finite(const OpCall& call) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) detail::require_float(call, i);
  return {{{}, DType::boolean}};
}

std::vector<Spec> infer_multiplier(const OpCall& call) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) detail::require_float(call, i);
  return {{{}, DType::float64}, {{}, DType::boolean}};
}

Op update_op(const char* name, std::vector<Spec> (*infer)(const OpCall&)) {
  Op op;
  op.name = name;
  op.cast.operands = {Cast::keep};
  op.infer = infer;
  return op;
}

}  // namespace

Op detail::sgd_update_op() {
  Op op = update_op("sgd_update", infer_sgd);
  op.in_place = {0, 2, 3};
  return op;
}

Op detail::adam_update_op() {
  Op op = update_op("adam_update", infer_adam);
  op.in_place = {0, 2, 3, 4};
  return op;
}

Op detail::join_master_op() { return update_op("join_master", infer_join); }
Op detail::split_master_op() { return update_op("split_master", infer_split); }
Op detail::all_finite_op() { return update_op("all_finite", infer_all_finite); }
Op detail::gradient_multiplier_op() { return update_op("gradient_multiplier", infer_multiplier); }

}  // namespace mezzo
