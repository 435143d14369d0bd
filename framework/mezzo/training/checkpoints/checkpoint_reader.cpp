#include <mezzo/training/checkpoints/checkpoint_reader.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/new_numbers.hpp>
#include <mezzo/training/checkpoints/checkpoint.hpp>

namespace mezzo::detail {
namespace {

namespace names = checkpoint_format;

/// a - b in float32.
Tensor difference(const Tensor& a, const Tensor& b) {
  Tensor out = a.cast(DType::float32);
  const Tensor subtracted = b.cast(DType::float32);
  float* to = out.mutable_data<float>();
  for (std::int64_t i = 0; i < out.size(); ++i) to[i] -= subtracted.data<float>()[i];
  return out;
}

}  // namespace

void SavedWeight::restore(const OptimizerConfigs& configs) {
  variable->assign(numbers);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Optimizer& optimizer = *configs[i].optimizer;
    std::optional<Tensor> compensation = states[i].compensation;
    if (!optimizer.compensates(*variable) || (compensation && compensation->dtype() != variable->dtype())) {
      compensation = {};  // not needed: `numbers` include it
    }
    if (compensation) {
      numbers = difference(numbers, *compensation);
      variable->assign(numbers);
    } else if (optimizer.compensates(*variable) && states[i].updated) {
      compensation = difference(numbers, variable->value).cast(variable->dtype());
      numbers = variable->value;
    }
    const std::vector<std::string> slot_names = optimizer.all_slot_names();
    Optimizer::Slots slots{Shared<VariableState>(variable), {}};
    const auto add = [&](const std::string& name, const std::optional<Tensor>& value) {
      const auto& slot = slots.values.emplace_back(std::in_place, fmt::format("{}/{}", variable->name, name));
      if (value) slot->assign(*value);
      return value.has_value();
    };
    bool any = false;
    for (std::size_t k = 0; k < slot_names.size(); ++k) any |= add(slot_names[k], states[i].slots[k]);
    if (compensation) any |= add(Optimizer::compensation_name, compensation);
    if (any) optimizer.state()->slots.push_back(std::move(slots));
  }
}

std::optional<Tensor> CheckpointReader::tensor(const std::string& key, const FileWeight& weight, bool needed) {
  return tensor(key, weight, needed, weight.variable.shape());
}

std::optional<Tensor> CheckpointReader::tensor(const std::string& key, const FileWeight& weight, bool needed,
                                               const Shape& shape) {
  const bool like_weight = shape == weight.variable.shape();
  known_.insert(key);
  if (weight.needs_no_range()) known_.insert(key + FileWeight::range_suffix);
  const SafetensorsFile::Entry* entry = file_.find(key);
  if (entry == nullptr) {
    if (needed) faults.add(fmt::format("missing tensor \"{}\"", key));
    return {};
  }
  const std::string wrong_dtype = dtype_fault(*entry, weight.variable.dtype());
  const std::string fault =
      wrong_dtype.empty() ? shape_fault(*entry, like_weight ? weight.shape() : shape) : wrong_dtype;
  faults.add(fault);
  if (!fault.empty()) return {};
  return like_weight ? weight.from_file(file_.read(key)) : file_.read(key);
}

SavedWeight CheckpointReader::read(const FileWeight& weight) {
  const auto numbers = tensor(names::weight_key(weight.name()), weight, true);
  if (numbers && (weight.variable.quantized() || weight.variable.state()->of_codes)) {
    codes_.emplace_back(weight.variable, *numbers);
  }
  return {weight.variable.state().pointer(), numbers ? numbers->cast(file_dtype(numbers->dtype())) : Tensor(), {}};
}

SavedStates CheckpointReader::read(const FileWeight& weight, const OptimizerConfig& config, bool updated,
                                   std::int64_t iterations, std::int64_t accumulated) {
  SavedStates states;
  states.updated = updated;
  const Optimizer& optimizer = *config.optimizer;
  const Shape& shape = weight.variable.shape();
  for (const std::string& slot : optimizer.all_slot_names()) {
    // Files may omit slots in their initial state.
    const bool needed = updated && optimizer.has_slot_after(slot, shape, iterations, accumulated);
    states.slots.push_back(tensor(names::slot_key(config.name, slot, weight.name()), weight, needed,
                                  optimizer.shape_of_slot(slot, shape)));
  }
  states.compensation =
      tensor(names::slot_key(config.name, Optimizer::compensation_name, weight.name()), weight, false);
  return states;
}

void CheckpointReader::note_faults_of_codes() {
  std::vector<Variable> weights;
  for (const auto& one : codes_) weights.push_back(one.first);
  const NewNumbers checks(weights);
  for (const auto& [weight, numbers] : codes_) {
    const std::string fault = checks.fault(weight, numbers.cast(weight.dtype()));
    if (!fault.empty()) faults.add(fmt::format("numbers of {} {}", weight.name(), fault));
  }
}

void CheckpointReader::note_unexpected(const std::vector<std::string>& except) {
  note_faults_of_codes();
  for (const SafetensorsFile::Entry& entry : file_.entries()) {
    // Callbacks and metrics may be left out.
    if (entry.name.rfind(names::callback_key("", ""), 0) == 0 || entry.name.rfind("metric.", 0) == 0) continue;
    const auto begins = [&](const std::string& prefix) { return entry.name.rfind(prefix, 0) == 0; };
    if (std::any_of(except.begin(), except.end(), begins)) continue;
    if (known_.count(entry.name) == 0) faults.add(fmt::format("unexpected tensor \"{}\"", entry.name));
  }
}

}  // namespace mezzo::detail
