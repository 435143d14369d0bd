#include <mezzo/onnx/import_model.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/fields.hpp>
#include <mezzo/onnx/import_message.hpp>
#include <mezzo/onnx/import_read.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {
namespace {

/// True for dtypes of which one converts to the other as input of a model.
bool converts(DType from, DType to) {
  if (from == to) return true;
  if (is_floating(to)) return true;
  return from != DType::boolean && to != DType::boolean && !is_floating(from);
}

/// The spec with `batch` samples, if it is known, and `size` elements along other open axes.
Spec with_sizes(Spec spec, std::int64_t batch, std::int64_t size) {
  for (std::size_t axis = 0; axis < spec.shape.size(); ++axis) {
    if (spec.shape[axis] < 0) spec.shape[axis] = axis == 0 ? batch : size;
  }
  return spec;
}

/// True if an array of that shape could exist.
bool is_traceable(const Shape& shape) {
  constexpr double most = 2147483648.0;
  double elements = 1;
  for (const std::int64_t size : shape) elements *= static_cast<double>(size);
  return elements <= most;
}

/// Names of the layers whose flag is not the one by their weights.
std::vector<std::string> flipped_layers(const std::vector<OnnxLayer>& layers) {
  std::vector<std::string> out;
  for (const OnnxLayer& one : layers) {
    if (one.layer->trainable != one.trainable) out.push_back(one.name);
  }
  return out;
}

}  // namespace

Shape onnx_kernel_order(std::size_t rank) {
  const auto last = static_cast<std::int64_t>(rank) - 1;
  Shape axes{last, last - 1};
  for (std::int64_t i = 0; i < last - 1; ++i) axes.push_back(i);
  return axes;
}

void describe(Fields& fields, OnnxModelOptions& options) {
  if (!options.layers.empty()) options.flipped = flipped_layers(options.layers);
  fields("graph", options.graph);
  fields("weights", options.weights);
  fields("trained", options.trained);
  fields("flipped", options.flipped);
}

OnnxModel::OnnxModel(const OnnxModelOptions& options) : Model("OnnxModel", options) {
  graph_ = std::make_shared<const OnnxGraph>(read_onnx_graph(onnx_message(options.graph), "", true, label()));
  std::vector<std::string> inputs;
  for (const OnnxGraph::Input& input : graph_->inputs) inputs.push_back(input.name);
  if (inputs.empty()) fail<ValueError>(label(), "the graph must have inputs; got none");
  set_input_names(std::move(inputs));
  set_output_names(graph_->output_names);
  add_layers(options);
}

std::vector<Spec> OnnxModel::declared_inputs() const {
  std::vector<Spec> out;
  for (const OnnxGraph::Input& input : graph_->inputs) {
    if (!input.shape || !input.dtype) return {};
    out.push_back({*input.shape, *input.dtype});
  }
  return out;
}

void OnnxModel::assign(const std::string& name, const Tensor& numbers) {
  for (const Weight& weight : weights_) {
    if (weight.name != name) continue;
    if (!weight.kernel) return weight.variable.assign(numbers);
    const OutsideTrace at_once;
    const Shape order = inverse_permutation(onnx_kernel_order(numbers.shape().size()));
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
    if (!fits) refuse_shape(input, shape, where);
  }
  if (!input.dtype || x.dtype() == *input.dtype) return x;
  if (!converts(x.dtype(), *input.dtype)) {
    fail<DTypeError>(where, "must be {}; got {}", dtype_name(*input.dtype), dtype_name(x.dtype()));
  }
  return is_floating(x.dtype()) ? x : cast(x, *input.dtype).across_border();
}

void OnnxModel::refuse_shape(const OnnxGraph::Input& input, const Shape& shape, const std::string& where) const {
  Shape any_batch = *input.shape;
  const bool batch = shape.size() == any_batch.size() && !shape.empty() && any_batch[0] >= 0;
  if (batch) any_batch[0] = shape[0];
  bool others = batch;
  for (std::size_t i = 0; others && i < shape.size(); ++i) {
    others = any_batch[i] < 0 || shape[i] < 0 || any_batch[i] == shape[i];
  }
  fail<ShapeError>(where, "must have shape {}; got shape {}{}", *input.shape, shape,
                   others ? "; load_onnx(path, {.dynamic_batch = true}) takes any number of samples" : "");
}

std::vector<Spec> OnnxModel::outputs_for(const std::vector<Spec>& inputs) const {
  Trace trace(Trace::Mode::graph);
  const RootScope root(*this);
  Values xs;
  for (const Spec& spec : inputs) xs.push_back(trace.input("", spec));
  std::vector<Spec> out;
  for (const Value& y : run(xs)) out.push_back({y.shape(), y.dtype()});
  return out;
}

void OnnxModel::require_any_batch(std::int64_t batch) const {
  std::vector<Spec> inputs;
  for (const OnnxGraph::Input& input : graph_->inputs) {
    if (!input.shape) return;
    inputs.push_back({*input.shape, input.dtype.value_or(DType::float32)});
  }
  const auto outputs_of = [&](std::int64_t samples, std::int64_t size) {
    std::vector<Spec> specs;
    for (const Spec& spec : inputs) {
      specs.push_back(with_sizes(spec, samples, size));
      if (!is_traceable(specs.back().shape)) fail<ShapeError>(label(), "too many elements: {}", specs.back().shape);
    }
    return outputs_for(specs);
  };
  for (const std::int64_t size : {16, 224, 1}) {  // of other open axes: one that the graph takes
    std::vector<Spec> known;
    try {
      known = outputs_of(batch, size);
    } catch (const Error&) {
      continue;
    }
    const std::int64_t more = 2 * batch + 1;
    std::vector<Spec> found;
    try {
      found = outputs_of(more, size);
    } catch (const Error& error) {
      fail<ValueError>(label(), "dynamic_batch: the graph must take any number of samples; got for {}: {}", more,
                       error.what());
    }
    for (std::size_t i = 0; i < known.size(); ++i) {
      const Shape &a = known[i].shape, &b = found[i].shape;
      if (a.empty() || a[0] % batch != 0 || (!b.empty() && a[0] * more == b[0] * batch)) continue;
      fail<ValueError>(label(),
                       "dynamic_batch: output \"{}\" must grow with the samples; got shape {} for {} and {} "
                       "for {}",
                       graph_->output_names[i], a, batch, b, more);
    }
    return;
  }
}

/// Runs the graph each time the functional model around it is called, when all sizes are known. The sizes of the
/// outputs that stay open are those that differ between two batches.
Values OnnxModel::run_later(const Values& xs) const {
  std::vector<Spec> specs;
  for (const std::int64_t size : {2, 3}) {
    std::vector<Spec> inputs;
    for (const Value& x : xs) inputs.push_back(with_sizes({x.shape(), x.dtype()}, size, size));
    const std::vector<Spec> outputs = outputs_for(inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Shape& shape = outputs[i].shape;
      if (specs.size() == i) specs.push_back(outputs[i]);
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
  const bool symbols = std::any_of(xs.begin(), xs.end(), [](const Value& x) { return x.symbolic(); });
  const bool open = std::any_of(xs.begin(), xs.end(), [](const Value& x) { return element_count(x.shape()) < 0; });
  return symbols && (has_loops_ || (open && reads_sizes_)) ? run_later(xs) : run(xs);
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
  for (const OnnxValue& value : run.run(graph_->body)) out.push_back(in_file_order(value));
  return out;
}

}  // namespace mezzo::detail
