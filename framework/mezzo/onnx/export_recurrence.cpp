#include <mezzo/onnx/export_recurrence.hpp>

namespace mezzo::detail {
namespace {

/// The nodes of one step.
class StepWriter {
 public:
  explicit StepWriter(const RecurrenceExport& at) : at_(at) {}

  std::string activation(const std::string& name, const std::string& x) const {
    if (name == "linear") return x;
    if (name == "tanh") return add("Tanh", {x});
    if (name == "sigmoid") return add("Sigmoid", {x});
    if (name == "relu") return add("Relu", {x});
    if (name == "softplus") return add("Softplus", {x});
    if (name == "softsign") return add("Softsign", {x});
    if (name == "elu") return add("Elu", {x});
    if (name == "selu") return add("Selu", {x});
    if (name == "exponential") return add("Exp", {x});
    if (name == "hard_sigmoid") return at_.x.graph.add("HardSigmoid", {x}, {{"alpha", 1.0 / 6}, {"beta", 0.5}});
    if (name == "leaky_relu") return at_.x.graph.add("LeakyRelu", {x}, {{"alpha", 0.2}});
    if (name == "hard_tanh") return clipped(x, -1, 1);
    if (name == "relu6") return clipped(x, 0, 6);
    if (name == "log_sigmoid") return add("Neg", {add("Softplus", {add("Neg", {x})})});
    at_.x.refuse(fmt::format("the activation {}", name));
  }

  /// The new states of a step with the projected inputs x, from the states before it.
  ExportNames advance(const std::string& x, const ExportNames& states) const {
    const std::string& h = states[0];
    if (at_.kind == "simple_rnn")
      return {activation(at_.activation, add("Add", {x, product(h, at_.recurrent_kernel)}))};
    if (at_.kind == "lstm") return lstm(x, states);
    return {at_.kind == "gru" ? gru(x, h) : gru_reset_before(x, h)};
  }

 private:
  std::string add(const char* op, const ExportNames& operands) const { return at_.x.graph.add(op, operands); }

  std::string clipped(const std::string& x, double low, double high) const {
    const std::string above = add("Max", {x, at_.x.graph.scalar(low, at_.dtype)});
    return add("Min", {above, at_.x.graph.scalar(high, at_.dtype)});
  }

  /// h times the kernel, plus the bias.
  std::string product(const std::string& h, const std::string& kernel) const {
    const std::string y = add("MatMul", {h, kernel});
    return at_.bias.empty() ? y : add("Add", {y, at_.bias});
  }

  ExportNames gates(const std::string& x) const {
    const auto count = static_cast<std::size_t>(at_.gates);
    const std::string sizes = at_.x.graph.ints(Shape(count, at_.units));
    return at_.x.graph.add_many("Split", {x, sizes}, {{"axis", -1}}, std::vector<DType>(count, at_.dtype));
  }

  std::string gate(const std::string& x) const { return activation(at_.recurrent_activation, x); }

  ExportNames lstm(const std::string& x, const ExportNames& states) const {
    const ExportNames z = gates(add("Add", {x, product(states[0], at_.recurrent_kernel)}));
    const std::string candidate = add("Mul", {gate(z[0]), activation(at_.activation, z[2])});
    const std::string carry = add("Add", {add("Mul", {gate(z[1]), states[1]}), candidate});
    return {add("Mul", {gate(z[3]), activation(at_.activation, carry)}), carry};
  }

  /// z h + (1 - z) candidate.
  std::string mixed(const std::string& z, const std::string& h, const std::string& candidate) const {
    const std::string rest = add("Sub", {at_.x.graph.scalar(1, at_.dtype), z});
    return add("Add", {add("Mul", {z, h}), add("Mul", {rest, candidate})});
  }

  std::string gru(const std::string& x, const std::string& h) const {
    const ExportNames a = gates(x), b = gates(product(h, at_.recurrent_kernel));
    const std::string z = gate(add("Add", {a[0], b[0]})), r = gate(add("Add", {a[1], b[1]}));
    return mixed(z, h, activation(at_.activation, add("Add", {a[2], add("Mul", {r, b[2]})})));
  }

  std::string gru_reset_before(const std::string& x, const std::string& h) const {
    const ExportNames a = gates(at_.bias.empty() ? x : add("Add", {x, at_.bias})),
                      kernels = gates(at_.recurrent_kernel);
    const std::string z = gate(add("Add", {a[0], add("MatMul", {h, kernels[0]})}));
    const std::string r = gate(add("Add", {a[1], add("MatMul", {h, kernels[1]})}));
    const std::string inner = add("MatMul", {add("Mul", {r, h}), kernels[2]});
    return mixed(z, h, activation(at_.activation, add("Add", {a[2], inner})));
  }

  const RecurrenceExport& at_;
};

}  // namespace

ExportNames recurrence_as_scan(const RecurrenceExport& at) {
  ExportGraph& graph = at.x.graph;
  auto body = std::make_shared<ExportBody>();
  const auto port = [&](const char* name, DType dtype, std::size_t rank) {
    body->inputs.push_back({graph.unique(name), dtype, rank});
    graph.declare(body->inputs.back().name, dtype);
    return body->inputs.back().name;
  };
  graph.start_body();
  ExportNames before;
  for (std::size_t i = 0; i < at.initial.size(); ++i) before.push_back(port(i == 0 ? "state" : "carry", at.dtype, 2));
  const std::string x = port("step", at.dtype, 2);
  const StepWriter writer(at);
  ExportNames after = writer.advance(x, before);
  if (!at.mask.empty()) {
    const std::string counts = at.x.unsqueeze(port("counts", DType::boolean, 1), {1});
    for (std::size_t i = 0; i < after.size(); ++i) {
      after[i] = graph.add_as(at.dtype, "Where", {counts, after[i], before[i]});
    }
  }
  for (const std::string& state : after) body->outputs.push_back({graph.add("Identity", {state}), at.dtype, 2});
  body->outputs.push_back({graph.add("Identity", {after[0]}), at.dtype, 2});
  body->nodes = graph.finish_body();
  ExportNames operands = at.initial;
  operands.push_back(at.inputs);
  if (!at.mask.empty()) operands.push_back(at.mask);
  const std::size_t sequences = at.mask.empty() ? 1 : 2;
  const ExportAttributes attributes{{"body", std::shared_ptr<const ExportBody>(body)},
                                    {"num_scan_inputs", static_cast<std::int64_t>(sequences)},
                                    {"scan_input_axes", Shape(sequences, 1)},
                                    {"scan_output_axes", Shape{1}}};
  const std::vector<DType> dtypes(after.size() + 1, at.dtype);
  const ExportNames outputs = graph.add_many("Scan", operands, attributes, dtypes);
  const auto narrow = [&](const std::string& value) { return graph.cast(value, at.x.dtype(0)); };
  ExportNames out{narrow(outputs.back()), narrow(outputs[0])};
  if (at.kind == "lstm") out.insert(out.end(), {"", "", narrow(outputs[1])});
  return out;
}

}  // namespace mezzo::detail
