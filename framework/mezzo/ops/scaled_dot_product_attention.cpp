#include <mezzo/ops/scaled_dot_product_attention.hpp>

#include <cmath>
#include <limits>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/products.hpp>
#include <mezzo/ops/reductions.hpp>

namespace mezzo {
namespace {

const char* const head_axes = "(batch, positions, heads, size)";

void require_axis(const OpCall& call, std::size_t i, std::size_t axis, std::int64_t size, const std::string& why) {
  const Shape& shape = call.inputs[i].shape;
  if (shape[axis] == size) return;
  fail<ShapeError>(call.where, "input {} axis {} must be {} ({}); got shape {}", i, axis, size, why, shape);
}

/// Shape of the scores: (batch, heads, query positions, key positions).
Shape scores_of(const Shape& query, const Shape& key) { return {query[0], query[2], query[1], key[1]}; }

void check_operands(const OpCall& call, std::size_t query) {
  const std::size_t key = query + 1, value = query + 2;
  for (std::size_t i = query; i <= value; ++i) {
    detail::require_float(call, i);
    detail::require_rank(call, i, 4, head_axes);
  }
  const Shape& q = call.inputs[query].shape;
  const Shape& k = call.inputs[key].shape;
  for (const std::size_t i : {key, value}) {
    require_axis(call, i, 0, q[0], "batch of the query");
    require_axis(call, i, 2, q[2], "heads of the query");
  }
  require_axis(call, key, 3, q[3], "size of the query");
  require_axis(call, value, 1, k[1], "positions of the key");
}

void check_mask(const OpCall& call, const Spec& mask, const Shape& scores) {
  const DType wide = accumulation_dtype(call.inputs[0].dtype);
  if (mask.dtype != DType::boolean && mask.dtype != wide) {
    fail<DTypeError>(call.where, "mask must be bool or {}; got {}", wide, mask.dtype);
  }
  if (mask.shape.size() <= 4 && broadcast(mask.shape, scores, call.where) == scores) return;
  fail<ShapeError>(call.where, "mask must broadcast to {} (batch, heads, query positions, key positions); got shape {}",
                   scores, mask.shape);
}

std::vector<Spec> infer_attention(const OpCall& call) {
  check_operands(call, 0);
  const Shape& q = call.inputs[0].shape;
  if (call.attributes.get<bool>("masked")) {
    check_mask(call, call.inputs[3], scores_of(q, call.inputs[1].shape));
  }
  const DType dtype = call.inputs[0].dtype;
  return {{{q[0], q[1], q[2], call.inputs[2].shape[3]}, dtype}, {{q[0], q[2], q[1]}, accumulation_dtype(dtype)}};
}

std::vector<Spec> infer_attention_gradient(const OpCall& call) {
  check_operands(call, 1);
  Shape result = call.inputs[1].shape;
  result[3] = call.inputs[3].shape[3];
  detail::require_cotangent(call, 0, result);
  return {call.inputs[1], call.inputs[2], call.inputs[3]};
}

/// Mask (queries, keys) that is true if j <= i.
Tensor causal_mask(std::int64_t queries, std::int64_t keys) {
  Tensor mask({queries, keys}, DType::boolean);
  bool* at = mask.mutable_data<bool>();
  for (std::int64_t i = 0; i < queries * keys; ++i) at[i] = i % keys <= i / keys;
  return mask;
}

/// The mask as a bias: 0 for true, -infinity for false.
Value additive(const Value& mask, DType dtype) { return log(cast(mask, dtype)); }

/// Cotangent of the bias. Computes the whole matrix of scores again.
Value bias_gradient(const GradientContext& context) {
  const Attributes& attributes = context.attributes();
  if (attributes.get<double>("rate") > 0) {
    fail<Error>(
        detail::current_label("dot_product_attention"),
        "has no gradient for a bias together with dropout; use stop_gradient(bias) or dropout 0; got dropout {}",
        attributes.get<double>("rate"));
  }
  const Value& bias = context.input(3);
  const DType wide = bias.dtype();
  const auto heads_first = [&](const Value& x) { return transpose(detail::as(x, wide), {0, 2, 1, 3}); };
  const Value query = heads_first(context.input(0)), key = heads_first(context.input(1));
  const Value g = heads_first(context.cotangent()), y = heads_first(context.output());
  Value scores = matmul(query, key, {.transpose_b = true}) * attributes.get<double>("scale") + bias;
  if (attributes.get<bool>("causal")) {
    scores = scores + additive(causal_mask(query.shape()[2], key.shape()[2]), wide);
  }
  const Value& sums = context.output(1);
  const Value weights = exp(scores - reshape(sums, {sums.shape()[0], sums.shape()[1], sums.shape()[2], 1}));
  const Value of_weights = matmul(g, heads_first(context.input(2)), {.transpose_b = true});
  const Value part = weights * (of_weights - sum(g * y, {.axes = {-1}, .keepdims = true}));
  return detail::reduce_to_input(context, 3, part);
}

Values attention_gradient(const GradientContext& context) {
  Values out(context.input_count());
  if (!context.cotangent().defined()) return out;
  Values operands{detail::as(context.cotangent(), context.input(0).dtype())};
  for (std::size_t i = 0; i < 3; ++i) operands.push_back(context.input(i));
  operands.push_back(context.output(0));
  operands.push_back(context.output(1));
  for (std::size_t i = 3; i < context.input_count(); ++i) operands.push_back(context.input(i));
  const Values all = insert(ops::scaled_dot_product_attention_gradient, operands, context.attributes());
  for (std::size_t i = 0; i < 3; ++i) {
    if (context.needs(i)) out[i] = detail::as(all[i], context.dtype(i));
  }
  if (context.attributes().get<bool>("masked") && context.needs(3)) out[3] = bias_gradient(context);
  return out;
}

/// Inputs: query, key, value, then the mask if `masked`, then seed, step and possibly the first sample if the graph was
/// built with dropout.
Values insert_attention(const Values& inputs, const Attributes& attributes) {
  const Op& op = ops::scaled_dot_product_attention;
  const double rate = attributes.get<double>("rate");
  Values operands(inputs.begin(), inputs.begin() + (attributes.get<bool>("masked") ? 4 : 3));
  if (operands.size() == 4 && operands[3].dtype() != DType::boolean) {
    const DType compute = detail::operand_dtype(op, operands[0]);
    operands[3] = detail::as(operands[3].across_border(false), accumulation_dtype(compute));
  }
  if (Trace::current() == nullptr && inputs[0].symbolic()) {  // a functional graph: its call sets the mode
    if (rate > 0) operands.insert(operands.end(), {Value(0.0), Value(0.0)});
    return insert(op, operands, attributes);
  }
  if (rate == 0 || !detail::training_phase()) return insert(op, operands, detail::with(attributes, {{"rate", 0.0}}));
  const detail::Draw draw = detail::next_draw();
  operands.insert(operands.end(), {draw.seed, draw.step});
  if (Value first = draw.first_element({inputs[0].shape()[0].or_unknown()}); first.defined())
    operands.push_back(std::move(first));
  return insert(op, operands, detail::with(attributes, {{"key", draw.key}}));
}

/// Broadcasts the last axis of a mask to the number of keys; kernels broadcast the other axes.
Value with_keys(const Value& mask, std::int64_t keys) {
  Shape shape = mask.shape();
  if (shape.empty()) shape = {1};
  if (shape.back() != 1 || keys == 1) return mask;
  shape.back() = keys;
  return broadcast_to(mask, shape);
}

}  // namespace

Op detail::define_scaled_dot_product_attention() {
  Op op;
  op.cast.operands = {Cast::promote, Cast::promote, Cast::promote, Cast::keep};
  op.cast.floats_only = false;
  op.cast.by_first = true;
  op.infer = infer_attention;
  op.gradient = attention_gradient;
  op.reinsert = insert_attention;
  return op;
}

Op detail::define_scaled_dot_product_attention_gradient() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_attention_gradient;
  return op;
}

Value dot_product_attention(const Value& query, const Value& key, const Value& value,
                            const AttentionOpOptions& options) {
  const std::string where = detail::current_label("dot_product_attention");
  if (!(options.dropout >= 0 && options.dropout < 1)) {
    fail<ValueError>(where, "dropout must lie in [0, 1); got {}", options.dropout);
  }
  Values operands{query, key, value};
  Value mask = options.mask;
  if (mask.defined() && mask.dtype() != DType::boolean) {
    fail<DTypeError>(where, "mask must be bool; got {} (pass an additive mask as bias)", mask.dtype());
  }
  if (options.bias.defined()) {
    mask = mask.defined() ? options.bias + additive(mask, accumulation_dtype(options.bias.dtype())) : options.bias;
  }
  const Shape& shape = query.shape();
  if (shape.empty()) fail<ShapeError>(where, "query must have axes {}; got shape ()", head_axes);
  if (mask.defined()) operands.push_back(key.shape().size() == 4 ? with_keys(mask, key.shape()[1].or_unknown()) : mask);
  return insert_attention(operands,
                          {{"scale", options.scale.value_or(1 / std::sqrt(static_cast<double>(shape.back())))},
                           {"causal", options.is_causal},
                           {"masked", mask.defined()},
                           {"rate", options.dropout},
                           {"key", std::int64_t{0}}})
      .front();
}

}  // namespace mezzo
