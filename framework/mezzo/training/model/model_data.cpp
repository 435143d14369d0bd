#include <algorithm>
#include <numeric>
#include <optional>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/model/class_targets.hpp>
#include <mezzo/training/model/input_shapes.hpp>
#include <mezzo/training/model/model.hpp>

// Arrays given to fit, evaluate and predict, as data sets whose fields have the names that steps use.
namespace mezzo {
namespace {

void add(std::vector<detail::NamedTensor>& fields, const std::string& name, const Tensor& tensor, Role role) {
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

void Model::set_input_names(std::vector<std::string> names) {
  require_names(names, "set_input_names()");
  input_names_ = std::move(names);
}

void Model::set_output_names(std::vector<std::string> names) {
  require_names(names, "set_output_names()");
  output_names_ = std::move(names);
}

void Model::require_names(const std::vector<std::string>& names, const char* what) const {
  if (!graph_.empty()) fail<ValueError>(label(), "{} is for classes of models; a functional model has names", what);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool twice = std::count(names.begin(), names.end(), names[i]) > 1;
    if (names[i].empty() || twice) {
      fail<ValueError>(label(), "{}: names must differ and not be empty; got \"{}\"", what, names[i]);
    }
  }
}

std::vector<std::string> Model::input_names() const {
  if (input_names_.empty()) require_functional("input_names()");
  return names_of_inputs(0);
}

std::vector<std::string> Model::output_names() const {
  if (!output_names_.empty()) return output_names_;
  require_functional("output_names()");
  return graph_.output_names();
}

std::size_t Model::output_count(std::size_t given) const {
  if (!output_names_.empty()) return output_names_.size();
  return graph_.empty() ? given : graph_.output_count();
}

std::vector<std::string> Model::names_of_outputs(std::size_t count) const {
  if (!graph_.empty()) return graph_.output_names();
  if (output_names_.size() == count) return output_names_;
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= count; ++i) names.push_back(count == 1 ? "output" : fmt::format("output_{}", i));
  return names;
}

std::vector<std::string> Model::names_of_inputs(std::size_t given) const {
  if (graph_.empty()) return input_names_.empty() ? std::vector<std::string>(given) : input_names_;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < graph_.input_count(); ++i) names.push_back(graph_.input_name(i));
  return names;
}

bool Model::takes_any_name(const Tensors& arrays, const std::vector<std::string>& names, const char* setter,
                           const char* what) const {
  if (!graph_.empty() || !arrays.named() || !names.empty()) return false;
  if (arrays.size() < 2) return true;
  std::vector<std::string> given;
  for (const auto& entry : arrays) given.push_back(entry.first);
  fail<NameError>(label(),
                  "several {} arrays by name need {} in the constructor of the model, which gives their order in the "
                  "model; got {}",
                  what, setter, fmt::join(given, ", "));
}

void Model::add_inputs(std::vector<detail::NamedTensor>& fields, const Tensors& x) const {
  if (takes_any_name(x, input_names_, "set_input_names()", "input")) {
    for (const auto& [name, array] : x) add(fields, name, array, Role::input);
    return;
  }
  const std::vector<std::string> names = names_of_inputs(x.size());
  const std::size_t count = names.size();
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

void Model::add_targets(std::vector<detail::NamedTensor>& fields, const Tensors& y) {
  const std::size_t count = output_count(std::max<std::size_t>(y.size(), 1));
  const std::vector<std::string> names = names_of_outputs(count);
  const detail::CompiledOutputs& compiled = compiled_for(count);
  std::vector<std::size_t> needed;
  std::vector<bool> optional;
  for (std::size_t i = 0; i < count; ++i) {
    optional.push_back(!compiled.needs_target(i));
    if (compiled.needs_target(i)) needed.push_back(i);
  }
  const auto is_output = [&](const auto& entry) {
    return std::find(names.begin(), names.end(), entry.first) != names.end();
  };
  if (std::none_of(y.begin(), y.end(), is_output) && takes_any_name(y, output_names_, "set_output_names()", "target")) {
    for (const auto& [name, array] : y) add(fields, name, array, Role::target);
    return;
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

void Model::add_weights(std::vector<detail::NamedTensor>& fields, const Tensors& weights, const Tensors& y) const {
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
  std::vector<detail::NamedTensor> fields;
  add_inputs(fields, x);
  detail::require_batch_axes(*state(), label(), fields);
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
    data = detail::class_weighted(data, class_weight, *compiled_, label() + " " + verb + ":");
  }
  std::vector<std::int64_t> all(static_cast<std::size_t>(data.size()));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  if (all.empty()) fail<ValueError>(label(), "{}: the batch must have samples; got none", verb);
  return data.gather(all);
}

}  // namespace mezzo
