#include <mezzo/onnx/import_run.hpp>

#include <algorithm>
#include <optional>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/onnx/import_operators.hpp>

namespace mezzo::detail {
namespace {

// Elements of constants that are computed with at once, so that the outer product of two is small, too.
constexpr std::int64_t most_folded = 8192;

/// Runs of nodes of bodies: about a thousand iterations of each loop.
std::int64_t most_runs(const OnnxBody& body) {
  constexpr std::int64_t least = 4096, iterations = 1024;
  std::int64_t nodes = 0;
  for_each_onnx_body(body, [&](const OnnxBody& inner) { nodes += static_cast<std::int64_t>(inner.nodes.size()); });
  return least + iterations * nodes;
}

}  // namespace

OnnxRun::OnnxRun(const OnnxGraph& graph, const Scopes& scopes, std::vector<OnnxValue> values)
    : graph_(graph),
      scopes_(scopes),
      values_(std::move(values)),
      most_inside_(most_runs(graph.body)),
      left_inside_(most_inside_) {}

std::vector<OnnxValue> OnnxRun::run(const OnnxBody& body) {
  for (const OnnxNode& node : body.nodes) run(node);
  std::vector<OnnxValue> out;
  out.reserve(body.outputs.size());
  for (const std::size_t place : body.outputs) out.push_back(values_[place]);
  return out;
}

std::vector<OnnxValue> OnnxRun::run_inside(const OnnxBody& body, const std::vector<OnnxValue>& inputs, bool apart) {
  left_inside_ -= static_cast<std::int64_t>(body.nodes.size());
  if (left_inside_ < 0) {
    fail<ValueError>(current_label("Loop"),
                     "the iterations of the loops of this graph must run at most {} nodes; got more", most_inside_);
  }
  // Callers point into the values. Orders of axes that are made in another trace must not stay.
  std::vector<OnnxValue> outer;
  if (apart) {
    outer = values_;
    outer.swap(values_);
  }
  for (std::size_t i = 0; i < body.inputs.size(); ++i) values_[body.inputs[i]] = inputs.at(i);
  std::vector<OnnxValue> out = run(body);
  if (apart) outer.swap(values_);
  return out;
}

void OnnxRun::run(const OnnxNode& node) {
  std::vector<OnnxValue*> inputs;
  bool constant = node.function->folds;
  std::int64_t elements = 0;
  for (const std::size_t input : node.inputs) {
    inputs.push_back(input == OnnxNode::absent ? nullptr : &values_[input]);
    if (inputs.back() == nullptr) continue;
    constant = constant && inputs.back()->constant;
    if (constant) elements += element_count(inputs.back()->first.shape());
  }
  constant = constant && elements <= most_folded;
  const bool symbolic = !current_frames().empty() && current_frames().back().symbolic;
  const Place& place = scopes_.at(&node);
  const Scope scope(Frame{.info = place.layer.pointer(),
                          .entry = place.entry,
                          .symbolic = symbolic,
                          .regions = {},
                          .training = {},
                          .remat = nullptr});
  std::optional<OutsideTrace> at_once;
  if (constant) at_once.emplace();
  OnnxCall call(node, graph_.opset, std::move(inputs), constant);
  call.run_body = [this](const OnnxBody& body, const std::vector<OnnxValue>& given, bool apart) {
    return run_inside(body, given, apart);
  };
  node.function->run(call);
  call.check_all_read();
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == OnnxNode::absent) continue;
    OnnxValue& made = call.outputs()[i];
    if (!made.first.defined() && !made.last.defined() && !made.kernel.defined()) {
      call.refuse("output {} isn't supported", i);
    }
    made.constant = made.constant || constant;
    if (i == 0) {
      place.layer->last_output = call.output_shape();
      place.layer->last_policy = current_policy();
      place.layer->called = true;
    }
    values_[node.outputs[i]] = std::move(made);
  }
}

}  // namespace mezzo::detail
