#include <mezzo/nn/adapters.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/weight_budget.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {
namespace {

bool is_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

void add_below(const Shared<LayerState>& layer, const std::string& path, std::set<const LayerState*>& seen,
               std::vector<PlacedLayer>& out) {
  if (!seen.insert(layer.get()).second) return;
  out.push_back({path, layer});
  for (const auto& [name, child] : layer->children) {
    add_below(child, path.empty() ? name : path + "/" + name, seen, out);
  }
}

/// One of the two variables of an adapter. Its numbers have at least float32.
Variable adapter_weight(const Variable& kernel, const std::string& name, const Shape& shape,
                        const Any<Initializer>& initializer, const std::string& where) {
  Variable weight(name);
  VariableState& state = *weight.state();
  const VariableState& base = *kernel.state();
  const DType dtype = is_floating(base.dtype()) ? accumulation_dtype(base.dtype()) : DType::float32;
  if (auto* budget = LayerWeightBudget::innermost()) {
    budget->take(shape, where);
    state.value = Tensor(shape, dtype);
  } else {
    initializer->check_not_moved();
    state.value = initializer->make(shape, dtype, mix(seed(), next_stream())).owned();
  }
  state.fixed_dtype = true;
  state.filled = true;
  state.policy_version = base.policy_version;
  state.regularizer = base.regularizer;
  state.autocast = base.autocast;
  return weight;
}

/// Layout of PEFT's files: A (rank, in), B (out, rank).
void set_files(const Adapters& adapters, const std::string& name, VariableState& a, VariableState& b) {
  const auto file_name = [&](const char* letter) {
    return adapters.table ? fmt::format("lora_embedding_{}.{}", letter, name)
                          : fmt::format("lora_{}.{}.weight", letter, name);
  };
  a.file_name = file_name("A");
  b.file_name = file_name("B");
  const auto axes = static_cast<std::int64_t>(adapters.inputs.size());
  a.file_axes = {axes};
  for (std::int64_t axis = 0; axis < axes; ++axis) a.file_axes.push_back(axis);
  if (axes != 1) a.file_shape = {a.value.shape().back(), element_count(adapters.inputs)};
  b.file_axes = {1, 0};
}

}  // namespace

void allow_adapters(const Variable& kernel, const Shape& inputs, std::int64_t outputs, bool table) {
  std::shared_ptr<Adapters>& adapters = kernel.state()->adapters;
  if (adapters) return;
  adapters = std::make_shared<Adapters>();
  adapters->inputs = inputs;
  adapters->outputs = outputs;
  adapters->table = table;
}

const Adapter* adapter_in_use(const Variable& kernel) {
  const auto& adapters = kernel.state()->adapters;
  // A functional graph has the kernels alone: while a layer has adapters, its model calls the layers in place of
  // inserting these nodes.
  if (!adapters || in_functional_graph()) return nullptr;
  if (adapters->merged && adapters->disabled == 0 && training_phase()) {
    fail<ValueError>(current_label("lora"),
                     "adapters must not be merged in training, where they need gradients: call unmerge_adapter() "
                     "first");
  }
  return adapters->in_use();
}

Variable kernel_in_use(const Variable& kernel) {
  const auto& adapters = kernel.state()->adapters;
  const bool merged = adapters && adapters->merged && adapters->disabled == 0 && !in_functional_graph();
  return merged ? Variable(*adapters->merged) : kernel;
}

Value adapter_input(const Value& x, const Adapter& adapter) {
  return adapter.dropout > 0 ? dropout(x, adapter.dropout) : x;
}

Value adapted_product(const Value& x, const Adapter& adapter) {
  const Value low = matmul(adapter_input(x, adapter), Variable(adapter.a));
  return matmul(low * adapter.scale(), Variable(adapter.b));
}

Value adapted_rows(const Value& indices, const Adapter& adapter) {
  return matmul(gather(Variable(adapter.a), indices) * adapter.scale(), Variable(adapter.b));
}

Value adapted_reverse(const Value& x, const Adapter& adapter) {
  const Value low = matmul(x, Variable(adapter.b), {.transpose_b = true});
  return matmul(low * adapter.scale(), Variable(adapter.a), {.transpose_b = true});
}

Tensor adapter_delta(const Adapter& adapter, const Shape& kernel) {
  const OutsideTrace at_once;
  const LibraryScope as_inserted;
  const Tensor a = adapter.a->numbers();
  const Value matrix(a.reshape({a.size() / adapter.rank(), adapter.rank()}));
  return (matmul(matrix, Value(adapter.b->numbers())) * adapter.scale()).tensor().reshape(kernel);
}

Tensor merged_numbers(const Variable& kernel) {
  const Adapters& adapters = *kernel.state()->adapters;
  const OutsideTrace at_once;
  const LibraryScope as_inserted;
  const Tensor base = Value(kernel).tensor();  // of codes: the numbers that they mean
  const DType dtype = is_floating(kernel.dtype()) ? kernel.dtype() : DType::float32;
  const Adapter* const active = adapters.find(adapters.active);
  if (active == nullptr) return base.cast(dtype);
  const Tensor delta = adapter_delta(*active, kernel.shape());
  return (Value(base.cast(delta.dtype())) + Value(delta)).tensor().cast(dtype);
}

const Variable* adaptable_kernel(const LayerState& layer) {
  const auto found = std::find_if(layer.weights.begin(), layer.weights.end(),
                                  [](const Variable& weight) { return weight.state()->adapters != nullptr; });
  return found == layer.weights.end() ? nullptr : &*found;
}

Adapters* adapters_of(const LayerState& layer) {
  const Variable* const kernel = adaptable_kernel(layer);
  if (kernel == nullptr || kernel->state()->adapters->all.empty()) return nullptr;
  return kernel->state()->adapters.get();
}

bool has_adapters(const LayerState& layer) {
  return adapters_of(layer) != nullptr || std::any_of(layer.children.begin(), layer.children.end(),
                                                      [](const auto& child) { return has_adapters(*child.second); });
}

std::vector<PlacedLayer> layers_below(const Shared<LayerState>& root) {
  std::vector<PlacedLayer> out;
  std::set<const LayerState*> seen;
  add_below(root, "", seen, out);
  return out;
}

std::vector<Adapters*> all_adapters(const Shared<LayerState>& root) {
  std::vector<Adapters*> out;
  for (const PlacedLayer& one : layers_below(root)) {
    if (Adapters* const adapters = adapters_of(*one.layer)) out.push_back(adapters);
  }
  return out;
}

std::vector<Variable> adapter_weights(const LayerState& layer) {
  std::vector<Variable> out;
  const Adapters* const adapters = adapters_of(layer);
  if (adapters == nullptr) return out;
  for (const Adapter& one : adapters->all) out.insert(out.end(), {Variable(one.a), Variable(one.b)});
  return out;
}

std::vector<Variable> frozen_by_adapters(const LayerState& layer) {
  std::vector<Variable> out;
  if (const Adapters* const adapters = adapters_of(layer)) {
    if (adapters->froze_kernel) out.push_back(*adaptable_kernel(layer));
    for (const auto& weight : adapters->frozen) out.emplace_back(weight);
  }
  for (const auto& child : layer.children) {
    for (const Variable& weight : frozen_by_adapters(*child.second)) out.push_back(weight);
  }
  return out;
}

void check_plan(const AdapterPlan& plan, const std::string& where) {
  require_positive(where, "rank", plan.rank);
  require_finite(where, "alpha", plan.alpha);
  require_rate(where, "dropout", plan.dropout);
  if (is_name(plan.name)) return;
  fail<NameError>(where, "name of adapters must have letters, digits, \"_\" and \"-\" only; got \"{}\"", plan.name);
}

void check_new_adapter(const PlacedLayer& one, const std::string& name, const std::string& where) {
  const Variable& kernel = *adaptable_kernel(*one.layer);
  const VariableState& state = *kernel.state();
  const std::string at = one.path.empty() ? "" : fmt::format(" of \"{}\"", one.path);
  if (state.constraint) {
    fail<ValueError>(where, "the {}{} must have no constraint, which adapters would evade; got one", kernel.name(), at);
  }
  if (state.fake && state.fake->float8) {
    fail<ValueError>(where, "the {}{} must not have products in float8, which adapters would evade; got float8",
                     kernel.name(), at);
  }
  if (state.fake) {
    fail<ValueError>(where, "the {}{} must not be rounded in training ({}); quantize() it first", kernel.name(), at,
                     state.fake->form.name());
  }
  if (state.adapters->find(name) != nullptr) {
    fail<ValueError>(where, "the {}{} has adapters \"{}\" already; give others a name of their own", kernel.name(), at,
                     name);
  }
  if (!state.adapters->merged) return;
  fail<ValueError>(where, "the {}{} has merged adapters; call unmerge_adapter() first", kernel.name(), at);
}

void add_adapter(LayerState& layer, const AdapterPlan& plan, const std::string& where) {
  const Variable kernel = *adaptable_kernel(layer);
  Adapters& adapters = *kernel.state()->adapters;
  Shape of_a = adapters.inputs;
  of_a.push_back(plan.rank);
  const std::string suffix = plan.name == "default" ? "" : "_" + plan.name;
  const auto name = [&](const char* letter) { return fmt::format("lora_{}_{}{}", kernel.name(), letter, suffix); };
  const Variable a = adapter_weight(kernel, name("a"), of_a, plan.a_initializer, where);
  const Variable b = adapter_weight(kernel, name("b"), {plan.rank, adapters.outputs}, plan.b_initializer, where);
  set_files(adapters, plan.name, *a.state(), *b.state());
  layer.weights.push_back(a);
  layer.weights.push_back(b);
  adapters.all.push_back({.name = plan.name,
                          .a = a.state(),
                          .b = b.state(),
                          .alpha = plan.alpha,
                          .use_rslora = plan.use_rslora,
                          .dropout = plan.dropout});
  adapters.froze_kernel |= std::exchange(kernel.state()->trainable, false);
}

void freeze_others(LayerState& layer, Adapters& keeper) {
  if (!has_adapters(layer)) return layer.set_trainable(false);
  layer.trainable = true;
  std::set<const void*> of_adapters;
  if (const Adapters* const adapters = adapters_of(layer)) {
    for (const Adapter& adapter : adapters->all) of_adapters.insert({adapter.a.get(), adapter.b.get()});
  }
  for (const Variable& weight : layer.weights) {
    if (of_adapters.count(weight.id()) != 0 || !weight.trainable()) continue;
    weight.state()->trainable = false;
    keeper.frozen.push_back(weight.state());
  }
  for (const auto& child : layer.children) freeze_others(*child.second, keeper);
}

}  // namespace mezzo::detail
