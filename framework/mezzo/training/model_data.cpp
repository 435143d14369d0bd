#include <algorithm>
#include <numeric>
#include <optional>

#include <mezzo/core/fail.hpp>
#include <mezzo/losses/crossentropy.hpp>
#include <mezzo/losses/sparse_categorical_crossentropy.hpp>
#include <mezzo/training/class_targets.hpp>
#include <mezzo/training/model.hpp>

// Arrays given to fit, evaluate and predict, as data sets whose fields have the names that steps look for.
namespace mezzo {
namespace {

bool takes_classes(const Any<Loss>& loss) {
  if (!loss) return false;
  const Loss* const held = &*loss;
  return dynamic_cast<const losses::SparseCategoricalCrossentropy*>(held) != nullptr ||
         dynamic_cast<const losses::CategoricalGeneralizedCrossEntropy*>(held) != nullptr;
}

}  // namespace

void detail::require_one_class(const Dataset& data, const CompileOptions& options, const std::string& where) {
  bool classes = false;
  for (const Any<Loss>& loss : options.loss.list) classes = classes || takes_classes(loss);
  for (const auto& named : options.loss.named) classes = classes || takes_classes(named.second);
  if (!classes) return;
  for (const Field& field : data.fields()) {
    if (field.role != Role::target || field.shape.empty() || (field.shape.size() == 1 && field.shape[0] == 1)) continue;
    fail<ValueError>(where,
                     "class_weight with a loss that takes classes needs targets of shape () or (1,) for a sample; got "
                     "shape {} (sample_weight may have a weight for each of them)",
                     field.shape);
  }
}

namespace {

void add(std::vector<NamedTensor>& fields, const std::string& name, const Tensor& tensor, Role role) {
  fields.push_back({.name = name, .tensor = tensor, .role = role});
}

/// Position of each name among the named arrays. A NameError for names that are missing or unexpected; `optional`: may
/// be missing.
std::vector<std::optional<Tensor>> by_name(const Tensors& arrays, const std::vector<std::string>& names,
                                           const std::vector<bool>& optional, const std::string& where,
                                           const char* what) {
  std::vector<std::optional<Tensor>> out(names.size());
  std::vector<std::string> given;
  for (const auto& entry : arrays) {
    given.push_back(entry.first);
    const auto found = std::find(names.begin(), names.end(), entry.first);
    if (found == names.end() || entry.first.empty()) fail_unknown(where, what, entry.first, names);
    out[static_cast<std::size_t>(found - names.begin())] = entry.second;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (out[i] || optional[i]) continue;
    fail<NameError>(where, "{} by name must be complete; got none for \"{}\"; names: {}", what, names[i],
                    fmt::join(given, ", "));
  }
  return out;
}

}  // namespace

std::vector<std::string> Model::output_names() const {
  require_functional("output_names()");
  return graph_.output_names();
}

std::size_t Model::output_count(std::size_t given) const { return graph_.empty() ? given : graph_.output_count(); }

std::vector<std::string> Model::names_of_outputs(std::size_t count) const {
  if (!graph_.empty()) return graph_.output_names();
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= count; ++i) names.push_back(count == 1 ? "output" : fmt::format("output_{}", i));
  return names;
}

void Model::add_inputs(std::vector<NamedTensor>& fields, const Tensors& x) const {
  const std::size_t count = graph_.empty() ? x.size() : graph_.input_count();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(graph_.empty() ? "" : graph_.input_name(i));
  if (x.named()) {
    const auto found = by_name(x, names, std::vector<bool>(count), label(), "input");
    for (std::size_t i = 0; i < count; ++i) add(fields, names[i], *found[i], Role::input);
    return;
  }
  if (x.size() != count || count == 0) {
    fail<ValueError>(label(), "number of input arrays must be {}; got {}", std::max<std::size_t>(count, 1), x.size());
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::string unnamed = count == 1 ? "x" : fmt::format("x_{}", i + 1);
    add(fields, count == 1 || names[i].empty() ? unnamed : names[i], x[i], Role::input);
  }
}

void Model::add_targets(std::vector<NamedTensor>& fields, const Tensors& y) {
  const std::size_t count = output_count(std::max<std::size_t>(y.size(), 1));
  const std::vector<std::string> names = names_of_outputs(count);
  const detail::CompiledOutputs& compiled = compiled_for(count);
  std::vector<std::size_t> needed;
  std::vector<bool> optional;
  for (std::size_t i = 0; i < count; ++i) {
    optional.push_back(!compiled.needs_target(i));
    if (compiled.needs_target(i)) needed.push_back(i);
  }
  if (y.named()) {
    const auto found = by_name(y, names, optional, label(), "target");
    for (std::size_t i = 0; i < count; ++i) {
      if (found[i]) add(fields, count == 1 ? "y" : names[i], *found[i], Role::target);
    }
    return;
  }
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (y.size() != count && y.size() != needed.size()) {
    fail<ValueError>(label(), "number of target arrays must be {}; got {}", count, y.size());
  }
  const std::vector<std::size_t>& outputs = y.size() == count ? all : needed;
  for (std::size_t i = 0; i < y.size(); ++i) {
    add(fields, count == 1 ? "y" : names[outputs[i]], y[i], Role::target);
  }
}

void Model::add_weights(std::vector<NamedTensor>& fields, const Tensors& weights, const Tensors& y) const {
  const std::size_t count = output_count(std::max<std::size_t>(y.size(), 1));
  const std::vector<std::string> names = names_of_outputs(count);
  if (weights.named()) {
    const auto found = by_name(weights, names, std::vector<bool>(count, true), label(), "sample_weight");
    for (std::size_t i = 0; i < count; ++i) {
      if (found[i]) add(fields, names[i] + "_sample_weight", *found[i], Role::weight);
    }
    return;
  }
  if (weights.size() == 1) {
    add(fields, "sample_weight", weights[0], Role::weight);
    return;
  }
  if (weights.size() != count) {
    fail<ValueError>(label(), "number of sample_weight arrays must be 1 or {}; got {}", count, weights.size());
  }
  for (std::size_t i = 0; i < count; ++i) add(fields, names[i] + "_sample_weight", weights[i], Role::weight);
}

Dataset Model::dataset_of(const Tensors& x, const Tensors* y, const Tensors* sample_weight) {
  std::vector<NamedTensor> fields;
  add_inputs(fields, x);
  if (y != nullptr) add_targets(fields, *y);
  if (sample_weight != nullptr && !sample_weight->empty()) add_weights(fields, *sample_weight, *y);
  return Dataset::from_tensors(std::move(fields));
}

DataLoader Model::validation_of(const ValidationData& data, std::int64_t batch_size) {
  if (!data.loader.empty() || data.empty()) return data.loader;
  const Dataset samples = data.x.empty() ? data.dataset : dataset_of(data.x, &data.y, &data.sample_weight);
  return DataLoader(samples, {.batch_size = batch_size});
}

HostBatch Model::batch_of(const Tensors& x, const Tensors& y, const Tensors& sample_weight,
                          const std::map<std::int64_t, double>& class_weight, const std::string& verb) {
  require_compiled(verb);
  Dataset data = dataset_of(x, &y, &sample_weight);
  if (!class_weight.empty()) {
    detail::require_one_class(data, *compiled_, label() + " " + verb + ":");
    data = detail::with_class_weights(data, class_weight, label() + " " + verb + ":");
  }
  std::vector<std::int64_t> all(static_cast<std::size_t>(data.size()));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  if (all.empty()) fail<ValueError>(label(), "{}: the batch must have samples; got none", verb);
  return data.gather(all);
}

}  // namespace mezzo
