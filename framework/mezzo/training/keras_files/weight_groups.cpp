#include <mezzo/training/keras_files/weight_groups.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/nn/adapters.hpp>
#include <mezzo/nn/new_numbers.hpp>
#include <mezzo/training/keras_files/gptq_arrays.hpp>
#include <mezzo/training/keras_files/objects_in.hpp>
#include <mezzo/training/keras_files/quantized_arrays.hpp>

namespace mezzo::detail {
namespace {

bool begins_with(const std::string& text, const std::string& begin) { return text.rfind(begin, 0) == 0; }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// Group of the file: its name in Keras 3, or in Keras 2.13 to 2.15.
std::string group_in(const Hdf5File& file, const std::string& group) {
  const std::string vars = group.empty() ? "vars" : group + "/vars";
  std::string hidden = vars;
  for (const char* name : {"query", "key", "value", "output"}) {
    hidden = replaced(hidden, fmt::format("/{}_dense/", name), fmt::format("/_{}_dense/", name));
  }
  for (const std::string& name : {vars, hidden}) {
    if (file.has_group(name)) return name;
    const std::string older = replaced(name, "layers", "_layer_checkpoint_dependencies");
    if (file.has_group(older)) return older;
  }
  return vars;
}

bool fits(const Shape& stored, const Shape& wanted) {
  // GRU's biases are (2, n) here, also for one row.
  return stored == wanted || (element_count(stored) == element_count(wanted) && stored.size() + 1 == wanted.size());
}

/// True for arrays that layers don't have here: states of random numbers, counts of Normalization.
bool has_no_weight(const std::string& path) {
  return path.find("seed_generator") != std::string::npos || begins_with(path, "optimizer/") ||
         begins_with(path, "metrics/") || begins_with(path, "_metrics/") || begins_with(path, "compile_metrics/") ||
         begins_with(path, "_compile_metrics/") || begins_with(path, "_loss_tracker/") ||
         begins_with(path, "_compile_loss/");
}

/// Numbers of a weight; of a kernel with an active adapter: with it added, as Keras saves it.
Tensor whole_numbers(const Variable& weight) {
  const auto& adapters = weight.state()->adapters;
  return adapters && !adapters->all.empty() ? merged_numbers(weight) : weight.value();
}

/// Arrays of a layer's weights that fit.
std::vector<KerasNumbers> match_group(const KerasWeights& layer, const std::string& group, const Hdf5File& file,
                                      std::set<std::string>& used, LoadWeightsReport& report, Findings& faults) {
  std::vector<KerasNumbers> out;
  for (std::size_t i = 0; i < layer.variables.size(); ++i) {
    const std::string path = fmt::format("{}/{}", group, place_of_array(layer, i));
    const Hdf5Array* const array = file.find(path);
    const Variable& variable = layer.variables[i];
    used.insert(path);
    if (array == nullptr) {
      report.missing_keys.push_back(path);
      faults.add(fmt::format("missing array \"{}\" for {} {}", path, layer.layer, variable.name()));
    } else if (!fits(array->shape, shape_in_keras(layer, variable))) {
      report.mismatched_keys.push_back(path);
      faults.add(fmt::format("array \"{}\" must have shape {} ({} {}); got {}", path, shape_in_keras(layer, variable),
                             layer.layer, variable.name(), array->shape));
    } else {
      out.push_back({variable, path, layer.is_gptq && (variable.quantized() || variable.state()->of_codes)});
    }
  }
  return out;
}

/// True if groups are those of consecutive inputs. Notes others, which Keras makes with activation_order.
bool check_groups(const KerasWeights& layer, const std::string& path, const Hdf5File& file, Findings& faults) {
  const Hdf5Array* const array = file.find(path);
  const Tensor expected = block_numbers(layer);
  if (array == nullptr || array->shape != expected.shape()) {
    faults.add(
        fmt::format("array \"{}\" must have the groups of {} with shape {} (Keras 3.15 saves no zero points of gptq)",
                    path, layer.layer, expected.shape()));
    return false;
  }
  const std::vector<double> groups = file.read(path).to_doubles(), own = expected.to_doubles();
  const bool same = std::equal(groups.begin(), groups.end(), own.begin(),
                               [](double a, double b) { return std::floor(a) == b; });  // Keras writes fractions
  if (!same) {
    faults.add(fmt::format(
        "array \"{}\" must have groups of consecutive inputs ({}), not those of activation_order with several groups",
        path, layer.layer));
  }
  return same;
}

}  // namespace

KerasMatch match_keras_weights(const std::vector<KerasWeights>& weights, const Hdf5File& file, bool skip_mismatch) {
  KerasMatch out;
  std::set<std::string> used;
  Findings faults;
  for (const KerasWeights& layer : weights) {
    const std::string group = group_in(file, layer.group);
    if (layer.class_name == "Normalization") used.insert(fmt::format("{}/2", group));
    bool grouped = true;
    if (block_of(layer) > 0) {
      const std::string blocks = fmt::format("{}/{}", group, place_of_block_numbers(layer));
      used.insert(blocks);
      if (layer.is_gptq) grouped = check_groups(layer, blocks, file, faults);
      if (!grouped) out.report.mismatched_keys.push_back(blocks);
    }
    std::vector<KerasNumbers> numbers = match_group(layer, group, file, used, out.report, faults);
    if (!grouped || numbers.size() < layer.variables.size()) continue;
    out.numbers.insert(out.numbers.end(), numbers.begin(), numbers.end());
  }
  for (const auto& entry : file.arrays()) {
    if (used.count(entry.first) != 0 || has_no_weight(entry.first)) continue;
    out.report.unexpected_keys.push_back(entry.first);
    faults.add(fmt::format("unexpected array \"{}\"", printable_name(entry.first)));
  }
  if (skip_mismatch) {
    report_skipped(faults, !out.numbers.empty(), file);
  } else if (faults.any()) {
    fail<FileError>(file.where(), "the weights do not fit the layers: {}", faults.text());
  }
  return out;
}

void report_skipped(const Findings& skipped, bool any_left, const Hdf5File& file) {
  if (!skipped.any()) return;
  if (!any_left) fail<FileError>(file.where(), "no array fits the layers: {}", skipped.text());
  warn(fmt::format("{} skip_mismatch skipped: {}", file.where(), skipped.text()));
}

void assign_keras_weights(const std::vector<KerasNumbers>& numbers, const Hdf5File& file) {
  std::vector<Variable> weights;
  for (const KerasNumbers& weight : numbers) weights.push_back(weight.variable);
  const NewNumbers checks(weights);
  for (const KerasNumbers& weight : numbers) {
    weight.variable.state()->require_unmerged();
    if (!checks.restricts(weight.variable)) continue;
    const std::string fault = checks.fault(weight.variable, numbers_for(weight, file));
    if (!fault.empty()) fail<FileError>(file.where(), "array \"{}\" {}", printable_name(weight.path), fault);
  }
  for (const KerasNumbers& weight : numbers) {
    weight.variable.assign(numbers_for(weight, file));
    const auto& adapters = weight.variable.state()->adapters;
    const Adapter* const active = adapters ? adapters->find(adapters->active) : nullptr;
    if (active != nullptr) active->b->assign(Tensor(active->b->value.shape(), active->b->dtype()));
  }
}

Tensor numbers_for(const KerasNumbers& weight, const Hdf5File& file) {
  const VariableState& state = *weight.variable.state();
  const Tensor numbers = file.read(weight.path);
  if (weight.gptq) return gptq_numbers_of_keras(weight.variable, numbers, file.where());
  if (state.quantization) return codes_of_keras(weight.variable, numbers);
  return numbers.reshape(weight.variable.shape()).cast(weight.variable.dtype());
}

void write_keras_weights(const std::vector<KerasWeights>& weights, Hdf5Writer& file) {
  for (const KerasWeights& layer : weights) {
    const std::string group = layer.group.empty() ? "vars" : layer.group + "/vars";
    for (std::size_t i = 0; i < layer.variables.size(); ++i) {
      const Variable& variable = layer.variables[i];
      const Tensor numbers = variable.quantized() ? variable.state()->value : whole_numbers(variable);
      file.add(fmt::format("{}/{}", group, place_of_array(layer, i)), array_for_keras(layer, variable, numbers));
    }
    if (block_of(layer) > 0) {
      file.add(fmt::format("{}/{}", group, place_of_block_numbers(layer)), block_numbers(layer));
    }
    if (layer.class_name == "Normalization") file.add(group + "/2", Tensor::scalar(0, DType::int32));
  }
}

}  // namespace mezzo::detail
