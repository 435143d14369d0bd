#include <mezzo/onnx/import_model.hpp>

#include <algorithm>
#include <numeric>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/is_utf8.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/fields.hpp>
#include <mezzo/onnx/import_message.hpp>
#include <mezzo/onnx/import_read.hpp>
#include <mezzo/onnx/import_run.hpp>
#include <mezzo/onnx/import_weights.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {
namespace {

/// Axes of the file for a kernel (spatial axes..., C, F): {3, 2, 0, 1} for two spatial axes.
Shape kernel_file_order(std::size_t rank) {
  const auto last = static_cast<std::int64_t>(rank) - 1;
  Shape axes{last, last - 1};
  for (std::int64_t i = 0; i < last - 1; ++i) axes.push_back(i);
  return axes;
}

constexpr std::size_t most_layers = 4096;  // nodes that are sub-layers: entering them compares their names

/// Name of a node as that of a layer: "/layer1/conv1/Conv" is "layer1.conv1.Conv".
std::string layer_name(const std::string& node) {
  std::string name = node.substr(std::min(node.find_first_not_of('/'), node.size()));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '\\'; }, '.');
  return name == "." || name == ".." || !is_utf8(name) ? std::string() : name;
}

/// True for dtypes of which one converts to the other as input of a model.
bool converts(DType from, DType to) {
  if (from == to) return true;
  if (is_floating(to)) return true;
  return from != DType::boolean && to != DType::boolean && !is_floating(from);
}

}  // namespace

void describe(Fields& fields, OnnxModelOptions& options) {
  fields("graph", options.graph);
  fields("weights", options.weights);
  fields("trained", options.trained);
}

OnnxModel::OnnxModel(const OnnxModelOptions& options) : Model("OnnxModel", options) {
  graph_ = std::make_shared<const OnnxGraph>(read_onnx_graph(onnx_message(options.graph), "", true, label()));
  std::vector<std::string> inputs;
  for (const OnnxGraph::Input& input : graph_->inputs) inputs.push_back(input.name);
  if (inputs.empty()) fail<ValueError>(label(), "the graph must have inputs; got none");
  set_input_names(std::move(inputs));
  set_output_names(graph_->output_names);
  add_weights(options);
  add_layers();
}

void OnnxModel::add_weights(const OnnxModelOptions& options) {
  const std::vector<OnnxUse> uses = uses_of_initializers(*graph_);
  const std::set<std::string> names(options.weights.begin(), options.weights.end());
  const std::set<std::string> trained(options.trained.begin(), options.trained.end());
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const OnnxGraph::Initializer& one = graph_->initializers[i];
    if (one.numbers) continue;
    if (names.count(one.name) == 0 || !is_floating(one.dtype)) {
      fail<ValueError>(label(), "initializer \"{}\" must have numbers, or be a weight", one.name);
    }
    WeightOptions weight{.shape = one.shape, .initializer = "zeros"};
    if (uses[i].kernel) {
      weight.file_axes = kernel_file_order(one.shape.size());
      const Shape order = inverse_permutation(weight.file_axes);
      for (std::size_t axis = 0; axis < order.size(); ++axis) {
        weight.shape[axis] = one.shape[static_cast<std::size_t>(order[axis])];
      }
    }
    weight.trainable = trained.count(one.name) > 0 && !uses[i].statistic;
    weight.autocast = !uses[i].wide;
    weight.at_least_float32 = uses[i].wide;
    weights_.push_back({one.name, one.place, Variable(one.name), uses[i].kernel});
    add_weight(weights_.back().variable, weight);
  }
}

void OnnxModel::add_layers() {
  std::set<std::size_t> frozen, trained;
  std::set<std::string> names;
  for (const Weight& weight : weights_) {
    (weight.variable.trainable() ? trained : frozen).insert(weight.place);
  }
  for_each_onnx_node(graph_->body, [&](const OnnxNode& node) {
    const auto any_of = [&](const std::set<std::size_t>& places) {
      return std::any_of(node.inputs.begin(), node.inputs.end(),
                         [&](std::size_t place) { return places.count(place) > 0; });
    };
    const Shared<LayerState> layer(std::in_place, ScopeInfo{.kind = node.op,
                                                            .name = layer_name(node.name),
                                                            .policy = {},
                                                            .trainable = any_of(trained) || !any_of(frozen),
                                                            .remat = {}});
    const bool named = !layer->name.empty() && names.insert(layer->name).second && names.size() <= most_layers;
    scopes_.emplace(&node, OnnxRun::Place{layer, named ? state()->enter(layer->name, layer) : layer->name});
    reads_sizes_ = reads_sizes_ || node.op == "Shape" || node.op == "Size";
  });
}

void OnnxModel::assign(const std::string& name, const Tensor& numbers) {
  for (const Weight& weight : weights_) {
    if (weight.name != name) continue;
    if (!weight.kernel) return weight.variable.assign(numbers);
    const OutsideTrace at_once;
    const Shape order = inverse_permutation(kernel_file_order(numbers.shape().size()));
    return weight.variable.assign(transpose(Value(numbers), order).tensor());
  }
}

Value OnnxModel::checked_input(const OnnxGraph::Input& input, const Value& x,
                               std::map<std::string, std::int64_t>& sizes) const {
  const std::string where = fmt::format("{} input \"{}\"", label(), input.name);
  const Shape shape = x.shape();
  if (input.shape) {
    bool fits = shape.size() == input.shape->size();
    for (std::size_t i = 0; fits && i < shape.size(); ++i) {
      const std::int64_t wanted = (*input.shape)[i];
      fits = wanted < 0 || shape[i] == wanted || shape[i] < 0;
      if (wanted >= 0 || input.symbols[i].empty() || shape[i] < 0) continue;
      const auto known = sizes.emplace(input.symbols[i], shape[i]).first;
      if (known->second == shape[i]) continue;
      fail<ShapeError>(where, "axis {} (\"{}\") must have size {}, as in another input; got shape {}", i,
                       input.symbols[i], known->second, shape);
    }
    if (!fits) fail<ShapeError>(where, "must have shape {}; got shape {}", *input.shape, shape);
  }
  if (!input.dtype || x.dtype() == *input.dtype) return x;
  if (!converts(x.dtype(), *input.dtype)) {
    fail<DTypeError>(where, "must be {}; got {}", dtype_name(*input.dtype), dtype_name(x.dtype()));
  }
  return is_floating(x.dtype()) ? x : cast(x, *input.dtype).across_border();
}

/// Runs the graph each time the functional model around it is called, when all sizes are known. The sizes of the
/// outputs that stay open are those that differ between two batches.
Values OnnxModel::run_later(const Values& xs) const {
  std::vector<Spec> specs;
  for (const std::int64_t size : {2, 3}) {
    Trace trace(Trace::Mode::graph);
    const RootScope root(*this);
    Values inputs;
    for (const Value& x : xs) {
      Shape shape = x.shape();
      std::replace_if(
          shape.begin(), shape.end(), [](std::int64_t axis) { return axis < 0; }, size);
      inputs.push_back(trace.input("", Spec{shape, x.dtype()}));
    }
    const Values outputs = run(inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Shape shape = outputs[i].shape();
      if (specs.size() == i) specs.push_back({shape, outputs[i].dtype()});
      if (specs[i].shape.size() != shape.size()) {
        fail<ValueError>(label(), "output {} must have the same number of axes for any size of the inputs", i);
      }
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if (specs[i].shape[axis] != shape[axis]) specs[i].shape[axis] = -1;
      }
    }
  }
  return defer([model = *this](const Values& values) { return model.run(values); }, xs, specs);
}

Values OnnxModel::call_many(const Values& xs) {
  if (xs.size() != graph_->inputs.size()) {
    fail<ValueError>(label(), "number of inputs must be {}; got {}", graph_->inputs.size(), xs.size());
  }
  const bool open =
      std::any_of(xs.begin(), xs.end(), [](const Value& x) { return x.symbolic() && element_count(x.shape()) < 0; });
  return open && reads_sizes_ ? run_later(xs) : run(xs);
}

Values OnnxModel::run(const Values& xs) const {
  std::vector<OnnxValue> values(graph_->values.size());
  std::map<std::string, std::int64_t> sizes;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    values[graph_->inputs[i].place].first = checked_input(graph_->inputs[i], xs[i], sizes);
  }
  for (const OnnxGraph::Initializer& one : graph_->initializers) {
    if (!one.numbers) continue;
    values[one.place].first = *one.numbers;
    values[one.place].constant = true;
  }
  for (const Weight& weight : weights_) {
    OnnxValue& value = values[weight.place];
    (weight.kernel ? value.kernel : value.first) = weight.variable;
    value.variable = &weight.variable;
  }
  OnnxRun run(*graph_, scopes_, std::move(values));
  Values out;
  for (OnnxValue& value : run.run(graph_->body)) {
    if (!value.first.defined() && value.last.defined()) {
      value.first = permuted_axes(value.last, channels_to_first(value.last.shape().size()));
    } else if (!value.first.defined()) {
      value.first = transpose(value.kernel, kernel_file_order(value.kernel.shape().size()));
    }
    out.push_back(value.first);
  }
  return out;
}

}  // namespace mezzo::detail
