#include <mezzo/onnx/export_node.hpp>
#include <mezzo/onnx/export_recurrence.hpp>

// Recurrent layers: ONNX's LSTM, GRU and RNN, or a Scan where these lack a part.
namespace mezzo::detail {
namespace {

/// ONNX's name of an activation, with its parameters; "" if there is none.
struct OnnxActivation {
  std::string name;
  std::vector<double> alpha{}, beta{};
};

OnnxActivation activation_of(const std::string& name) {
  if (name == "tanh") return {"Tanh"};
  if (name == "sigmoid") return {"Sigmoid"};
  if (name == "relu") return {"Relu"};
  if (name == "softsign") return {"Softsign"};
  if (name == "softplus") return {"Softplus"};
  if (name == "elu") return {"Elu", {1.0}};
  if (name == "hard_sigmoid") return {"HardSigmoid", {1.0 / 6}, {0.5}};
  return {};
}

std::string zeros_like(const RecurrenceExport& at, const std::string& shape) {
  return at.x.add("Expand", {at.x.graph.scalar(0, at.dtype), shape});
}

/// Blocks of the last axis of a kernel or bias in ONNX's order.
std::string reordered(const RecurrenceExport& at, const std::string& value, std::int64_t axis) {
  if (at.kind != "lstm") return value;
  const std::vector<DType> dtypes(4, at.dtype);
  const std::string sizes = at.x.graph.ints(Shape(4, at.units));
  const ExportNames gates = at.x.graph.add_many("Split", {value, sizes}, {{"axis", axis}}, dtypes);
  return at.x.add("Concat", {gates[0], gates[3], gates[1], gates[2]}, {{"axis", axis}});  // i, o, f, c
}

/// (in, gates units) as (1, gates units, in).
std::string kernel(const RecurrenceExport& at, const std::string& value) {
  return at.x.unsqueeze(at.x.transpose(reordered(at, value, 1), {1, 0}), {0});
}

/// The biases of the inputs and of the states: (1, 2 gates units).
std::string biases(const RecurrenceExport& at) {
  const std::string none = at.x.graph.constant(Tensor({at.gates * at.units}, DType::float32).cast(at.dtype));
  const std::string inner = at.input_bias.empty() ? none : reordered(at, at.input_bias, 0);
  const std::string outer = at.bias.empty() ? none : reordered(at, at.bias, 0);
  return at.x.unsqueeze(at.x.add("Concat", {inner, outer}, {{"axis", 0}}), {0});
}

/// The operator's results as those of the node. `outputs`: Y (steps, 1, batch, units), the last state and carry.
ExportNames results(const RecurrenceExport& at, const ExportNames& outputs) {
  const DType dtype = at.x.dtype(0);
  const auto narrow = [&](const std::string& value) { return at.x.graph.cast(value, dtype); };
  const std::string states = at.x.transpose(at.x.squeeze(outputs[0], {1}), {1, 0, 2});
  ExportNames out{narrow(states), narrow(at.x.squeeze(outputs[1], {0}))};
  if (at.kind == "lstm") {
    out.insert(out.end(), {"", "", narrow(at.x.squeeze(outputs[2], {0}))});
  }
  return out;
}

ExportNames as_operator(const RecurrenceExport& at) {
  const bool lstm = at.kind == "lstm", simple = at.kind == "simple_rnn";
  const OnnxActivation state = activation_of(at.activation), gate = activation_of(at.recurrent_activation);
  std::vector<OnnxActivation> used{state};
  if (!simple) used.insert(used.begin(), gate);
  if (lstm) used.push_back(state);
  std::vector<std::string> names;
  std::vector<double> alpha, beta;
  for (const OnnxActivation& one : used) {
    names.push_back(one.name);
    alpha.insert(alpha.end(), one.alpha.begin(), one.alpha.end());
    beta.insert(beta.end(), one.beta.begin(), one.beta.end());
  }
  ExportAttributes attributes{{"hidden_size", at.units}, {"activations", names}};
  if (!alpha.empty()) attributes.emplace_back("activation_alpha", alpha);
  if (!beta.empty()) attributes.emplace_back("activation_beta", beta);
  if (at.kind == "gru") attributes.emplace_back("linear_before_reset", 1);
  ExportNames operands{at.x.transpose(at.inputs, {1, 0, 2}), kernel(at, at.input_kernel),
                       kernel(at, at.recurrent_kernel), biases(at), ""};
  for (const std::string& initial : at.initial) operands.push_back(at.x.unsqueeze(initial, {0}));
  if (operands.back().empty()) operands.pop_back();
  const std::vector<DType> dtypes(lstm ? 3 : 2, at.dtype);
  return results(at, at.x.graph.add_many(lstm ? "LSTM" : simple ? "RNN" : "GRU", operands, attributes, dtypes));
}

bool has_operator(const RecurrenceExport& at) {
  const bool known = !activation_of(at.activation).name.empty() &&
                     (at.kind == "simple_rnn" || !activation_of(at.recurrent_activation).name.empty());
  return known && at.mask.empty();
}

/// The layer's inputs and kernel if the projected inputs x are their product; otherwise x and the identity matrix.
void find_projection(RecurrenceExport& at) {
  const Value& x = at.x.node().inputs[0];
  const auto wide = [&](const std::string& name) { return at.x.graph.cast(name, at.dtype); };
  Value product = x;
  if (x.node()->op->name == "add" && x.node()->inputs[1].shape().size() == 1) {
    product = x.node()->inputs[0];
    at.input_bias = wide(at.x.name_of(x.node()->inputs[1]));
  }
  const Node& node = *product.node();
  const bool matches = node.op->name == "matmul" && node.inputs.size() == 2 && node.inputs[0].shape().size() == 3 &&
                       node.inputs[1].shape().size() == 2 && !node.attributes.get<bool>("transpose_a") &&
                       !node.attributes.get<bool>("transpose_b");
  if (matches) {
    at.inputs = wide(at.x.name_of(node.inputs[0]));
    at.input_kernel = wide(at.x.name_of(node.inputs[1]));
    return;
  }
  at.input_bias.clear();
  at.inputs = wide(at.x.in(0));
  const std::int64_t width = at.gates * at.units;
  if (node.op->name == "quantized_matmul") {  // a matrix of floats would be larger than the codes
    const std::string zeros =
        at.x.add_as(at.dtype, "Expand", {at.x.graph.scalar(0, at.dtype), at.x.graph.ints({width, width})});
    at.input_kernel = at.x.add("EyeLike", {zeros});
    return;
  }
  std::vector<double> identity(static_cast<std::size_t>(width * width), 0.0);
  for (std::int64_t i = 0; i < width; ++i) identity[static_cast<std::size_t>(i * width + i)] = 1;
  at.input_kernel = at.x.graph.constant(Tensor({width, width}, identity).cast(at.dtype));
}

ExportNames recurrence(const ExportedNode& x) {
  for (std::size_t i = 2; i < x.used.size(); ++i) {
    if (x.used[i] && i != 4) x.refuse("its gates as results");
  }
  if (x.get<bool>("dropped")) x.refuse("dropout");
  RecurrenceExport at{x};
  at.kind = x.get<std::string>("kind");
  at.activation = x.get<std::string>("activation");
  at.recurrent_activation = x.get<std::string>("recurrent_activation");
  at.dtype = accumulation_dtype(x.dtype());
  at.gates = at.kind == "simple_rnn" ? 1 : at.kind == "lstm" ? 4 : 3;
  at.units = x.fixed_shape(1)[0];
  const auto wide = [&](std::size_t i) { return x.graph.cast(x.in(i), at.dtype); };
  at.recurrent_kernel = wide(1);
  std::size_t next = 2;
  if (x.get<bool>("initial")) {
    for (int i = 0; i < (at.kind == "lstm" ? 2 : 1); ++i) at.initial.push_back(wide(next++));
  }
  if (x.get<bool>("biased")) at.bias = wide(next++);
  if (x.get<bool>("masked")) at.mask = x.in(next++);
  if (has_operator(at)) {
    find_projection(at);
    return as_operator(at);
  }
  if (at.initial.empty()) {
    const std::string shape = x.sizes.list({x.shapes[0][0], TracedNumber(x.traced.size(), at.units)}, x.where());
    at.initial.assign(at.kind == "lstm" ? 2 : 1, zeros_like(at, shape));
  }
  at.inputs = wide(0);
  return recurrence_as_scan(at);
}

}  // namespace

void add_recurrent_rules(ExportRules& rules) { rules["recurrence"] = recurrence; }

}  // namespace mezzo::detail
