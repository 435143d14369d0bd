#include <mezzo/nn/weight_names.hpp>

#include <algorithm>
#include <any>
#include <numeric>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/pattern.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/weight_facts.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {
namespace {

constexpr std::size_t most_findings = 20;  // that a text lists

/// Transposes x: axis i of the result is axis axes[i] of x.
Tensor permuted(const Tensor& x, const Shape& axes) {
  if (std::is_sorted(axes.begin(), axes.end())) return x;
  const OutsideTrace at_once;
  return transpose(Value(x), axes).tensor();
}

/// Puts equal blocks of the last axis into another order: block i of the result is block order[i] of x.
Tensor reordered(const Tensor& x, const Shape& order) {
  if (order.empty()) return x;
  const OutsideTrace at_once;
  const Values blocks = split(Value(x), static_cast<std::int64_t>(order.size()), -1);
  Values moved;
  for (const auto from : order) moved.push_back(blocks[static_cast<std::size_t>(from)]);
  return concat(moved).tensor();
}

template <class F>
void for_each_name(FileWeights& all, F change) {
  for (FileWeight& weight : all.weights) {
    std::for_each(weight.names.begin(), weight.names.end(), change);
    std::for_each(weight.parts.begin(), weight.parts.end(), change);
  }
  std::for_each(all.skipped.begin(), all.skipped.end(), change);
  for (auto& [copy, original] : all.copies) {
    change(copy);
    change(original);
  }
}

/// Adds a weight. A variable that is used in several places has several names, as in torch's state_dict.
void add(FileWeights& all, FileWeight weight) {
  for (FileWeight& known : all.weights) {
    if (known.variable.id() != weight.variable.id()) continue;
    known.names.insert(known.names.end(), weight.names.begin(), weight.names.end());
    return;
  }
  all.weights.push_back(std::move(weight));
}

FileWeight as_declared(const Variable& variable) {
  const VariableState& state = *variable.state();
  Shape axes = state.file_axes;
  if (axes.empty()) {
    axes.resize(variable.shape().size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  return {.names = {state.file_name.empty() ? state.name : state.file_name},
          .variable = variable,
          .axes = axes,
          .merged = state.file_shape,
          .order = {},
          .parts = {}};
}

void apply(const WeightFileRules& rules, FileWeights& all) {
  for (const auto& rule : rules.rename) {
    const Pattern pattern(rule.first);
    for_each_name(all, [&](std::string& name) { name = pattern.replaced(name, rule.second); });
  }
  for (const std::string& rule : rules.plain) {
    const Pattern pattern(rule);
    for (FileWeight& weight : all.weights) {
      if (pattern.matches(weight.name())) std::sort(weight.axes.begin(), weight.axes.end());
    }
  }
  all.skipped.insert(all.skipped.end(), rules.skip.begin(), rules.skip.end());
  const auto add_prefixed = [&](std::vector<std::string>& names) {
    for (std::size_t i = 0, count = names.size(); i < count; ++i) names.push_back(rules.optional_prefix + names[i]);
  };
  if (rules.optional_prefix.empty()) return;
  for (FileWeight& weight : all.weights) add_prefixed(weight.names);
  add_prefixed(all.skipped);
}

/// Adds a copy with the names that its weight has without and with the prefix.
void add_copy(const std::string& copy, const std::string& original, const std::string& prefix, FileWeights& all) {
  all.copies.emplace_back(copy, original);
  if (prefix.empty()) return;
  all.copies.emplace_back(copy, prefix + original);
  all.copies.emplace_back(prefix + copy, prefix + original);
}

}  // namespace

bool FileWeight::needs_no_range() const {
  const auto& fake = variable.state()->fake;
  return fake && fake->form.inputs == QuantizedInputs::static_int8 && fake->inputs_step.get() == nullptr;
}

bool FileWeight::is_packed() const { return variable.quantized() && variable.state()->quantization->packed(); }

std::string FileWeight::form_text() const {
  const Quantization& form = *variable.state()->quantization;
  if (!form.packed()) return "int8";
  const MatrixSizes sizes = form.matrix();
  const std::int64_t inputs = std::max<std::int64_t>(form.axes.table ? sizes.columns : sizes.rows, 1);
  const std::int64_t block = form.block() > 0 ? std::min(form.block(), inputs) : -1;
  return fmt::format("{}/{}", form.nf4() ? "nf4" : "int4", block);  // codes of gptq mean the same as those of int4
}

std::string FileWeight::zero_beside(const std::string& scale) {
  const std::string end = "_scale";
  if (scale.size() <= end.size() || scale.compare(scale.size() - end.size(), end.size(), end) != 0) return {};
  return scale.substr(0, scale.size() - end.size()) + "_zero";
}

Shape FileWeight::shape() const {
  if (is_packed()) return variable.state()->value.shape();
  return float_shape();
}

Shape FileWeight::permuted_shape() const {
  Shape out;
  for (const auto axis : axes) out.push_back(variable.shape()[static_cast<std::size_t>(axis)]);
  return out;
}

Tensor FileWeight::in_file(const Tensor& numbers) const {
  if (is_packed()) return variable.state()->quantization->stored(numbers, variable.name());
  return permuted(reordered(numbers, order), axes).reshape(shape());
}

Tensor FileWeight::from_file(const Tensor& numbers) const {
  if (is_packed() && !is_floating(numbers.dtype())) return variable.state()->quantization->codes(numbers);
  return reordered(permuted(numbers.reshape(permuted_shape()), inverse_permutation(axes)), inverse_permutation(order));
}

std::vector<Tensor> FileWeight::split_parts(const Tensor& in_file) const {
  if (in_file.shape().size() == 1) return {in_file, Tensor(in_file.shape(), in_file.dtype())};
  const OutsideTrace at_once;
  std::vector<Tensor> rows;
  for (const Value& row : split(Value(in_file), 2, 0)) rows.push_back(row.tensor().reshape(part_shape()));
  return rows;
}

Tensor FileWeight::join_parts(const Tensor& first, const Tensor& second) const {
  const OutsideTrace at_once;
  if (shape().size() == 1) return (Value(first) + Value(second)).tensor();
  return concat({first, second}, 0).tensor().reshape(shape());
}

std::string dtype_fault(const TensorEntry& entry, DType dtype) {
  const bool floats = is_floating(dtype);
  if (floats ? entry.dtype && is_floating(*entry.dtype) : entry.dtype == dtype) return {};
  return fmt::format("tensor \"{}\" must be {}, got {}", entry.name, floats ? "a float" : dtype_name(dtype),
                     type_text(entry));
}

std::string shape_fault(const TensorEntry& entry, const Shape& shape) {
  if (entry.shape == shape) return {};
  return fmt::format("tensor \"{}\" must have shape {}, got {}", entry.name, shape, entry.shape);
}

void Findings::add(const std::string& text) {
  if (text.empty() || ++count_ > most_findings) return;
  texts_.push_back(text);
}

void Findings::add(const Findings& others) {
  for (const std::string& text : others.texts_) add(text);
  count_ += others.count_ - others.texts_.size();
}

std::string Findings::text() const {
  const std::string first = fmt::format("{}", fmt::join(texts_, "; "));
  return count_ <= most_findings ? first : fmt::format("{}; and {} more", first, count_ - texts_.size());
}

FileWeights file_weights(const LayerState& layer) {
  FileWeights all;
  const auto* gates = std::any_cast<GateFiles>(&layer.content);
  const bool own_names = std::any_cast<OwnFileNames>(&layer.content) != nullptr;
  for (const Variable& variable : layer.weights) {
    FileWeight weight = as_declared(variable);
    if (gates != nullptr) weight.order = gates->order;
    if (gates != nullptr && variable.name() == "bias") weight.parts = gates->bias_parts;
    add(all, std::move(weight));
  }
  for (const auto& child : layer.children) {
    FileWeights below = file_weights(*child.second);
    if (!own_names) for_each_name(below, [&](std::string& name) { name = child.first + "." + name; });
    for (FileWeight& weight : below.weights) add(all, std::move(weight));
    all.skipped.insert(all.skipped.end(), below.skipped.begin(), below.skipped.end());
    all.copies.insert(all.copies.end(), below.copies.begin(), below.copies.end());
    for (const auto& [name, number] : below.facts) all.facts.emplace_back(child.first + "." + name, number);
  }
  if (const auto* facts = std::any_cast<WeightFacts>(&layer.content)) {
    all.facts.insert(all.facts.end(), facts->numbers.begin(), facts->numbers.end());
  }
  apply(layer.weight_files, all);
  if (const auto* facts = std::any_cast<WeightFacts>(&layer.content)) {
    for (const auto& [copy, original] : facts->copies)
      add_copy(copy, original, layer.weight_files.optional_prefix, all);
  }
  return all;
}

void check_weight_names(const LayerState& layer, const std::string& where) {
  const auto dotted = [](const std::string& name) { return name.find('.') != std::string::npos; };
  // Other names differ, since the names of sub-layers and of own weights differ.
  const bool may_collide = !layer.weight_files.rename.empty() ||
                           std::any_of(layer.children.begin(), layer.children.end(),
                                       [&](const auto& child) { return dotted(child.first); }) ||
                           std::any_of(layer.weights.begin(), layer.weights.end(),
                                       [&](const Variable& weight) { return dotted(as_declared(weight).name()); });
  if (!may_collide) return;
  std::set<std::string> seen;
  for (const FileWeight& weight : file_weights(layer).weights) {
    std::vector<std::string> written = weight.parts;
    written.push_back(weight.name());
    for (const std::string& name : written) {
      if (seen.insert(name).second) continue;
      fail<NameError>(
          where, "names of weights in files must differ; got \"{}\" twice (names of layers are joined by \".\")", name);
    }
  }
}

}  // namespace mezzo::detail

namespace mezzo {

void detail::set_weight_facts(detail::LayerState& layer, detail::WeightFacts facts) {
  layer.content = std::move(facts);
}

}  // namespace mezzo
