#include <mezzo/training/callbacks/base_finetuning.hpp>

#include <algorithm>
#include <sstream>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/loops/texts.hpp>

namespace mezzo {
namespace {

const char* const finetuning_label = "[BaseFinetuning]";

bool is_normalization(const detail::LayerState& layer) { return layer.kind == "BatchNormalization"; }

detail::LayerState& layer_at(const Module& module, const std::string& path) {
  detail::LayerState* layer = module.state().get();
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, '/');) {
    std::vector<std::string> names;
    detail::LayerState* found = nullptr;
    for (const auto& [name, child] : layer->children) {
      names.push_back(name);
      if (name == part) found = child.get();
    }
    if (found == nullptr) fail_unknown(finetuning_label, "layer", path, names);
    layer = found;
  }
  return *layer;
}

/// Returns the flag of the layer: true if a normalization below stays trainable.
bool freeze_below(detail::LayerState& layer, bool train_bn) {
  if (train_bn && is_normalization(layer)) {
    layer.set_trainable(true);
    return true;
  }
  bool any = false;
  for (const auto& child : layer.children) any = freeze_below(*child.second, train_bn) || any;
  layer.trainable = any && layer.weights.empty();
  return layer.trainable;
}

void unfreeze_below(detail::LayerState& layer, bool train_bn) {
  if (!train_bn && is_normalization(layer)) return;
  layer.trainable = true;
  for (const auto& child : layer.children) unfreeze_below(*child.second, train_bn);
}

/// Flags of a layer and all below, in order.
void collect_flags(const detail::LayerState& layer, std::string& out) {
  out += layer.trainable ? '1' : '0';
  for (const auto& child : layer.children) collect_flags(*child.second, out);
}

void set_flags(detail::LayerState& layer, const std::string& flags, std::size_t& next) {
  layer.trainable = flags[next++] == '1';
  for (const auto& child : layer.children) set_flags(*child.second, flags, next);
}

bool lies_below(const std::string& weight, const std::string& path) {
  return path.empty() || weight.compare(0, path.size() + 1, path + "/") == 0;
}

std::string group_key(std::size_t group, const char* what) { return fmt::format("group{}_{}", group, what); }

std::string text_in(const CallbackState& state, const std::string& key) {
  const auto found = state.texts.find(key);
  return found == state.texts.end() ? std::string() : found->second;
}

}  // namespace

void BaseFinetuning::setup(const std::string&) { resumed_ = false; }

void BaseFinetuning::on_fit_start() {
  if (resumed_) return;
  last_epoch_ = -1;
  freeze_before_training();
}

void BaseFinetuning::on_epoch_begin(int epoch, Logs&) {
  if (epoch <= last_epoch_) return;
  last_epoch_ = epoch;
  for (const OptimizerConfig& config : session().optimizers()) finetune_function(epoch, config.name);
}

void BaseFinetuning::freeze(const std::string& path, bool train_bn) const {
  freeze_below(layer_at(module(), path), train_bn);
}

void BaseFinetuning::make_trainable(const std::string& path) const { unfreeze_below(layer_at(module(), path), true); }

std::optional<std::size_t> BaseFinetuning::unfreeze_and_add_param_group(const std::string& path,
                                                                        const UnfreezeOptions& options) const {
  if (!(options.initial_denom_lr > 0)) {
    fail<ValueError>(finetuning_label, "initial_denom_lr must be above 0; got {}", options.initial_denom_lr);
  }
  detail::LayerState& layer = layer_at(module(), path);
  std::vector<Variable> frozen;
  for (const detail::WeightPolicy& weight : detail::weight_policies(module(), {})) {
    if (!weight.trainable && lies_below(weight.path, path)) frozen.push_back(weight.variable);
  }
  unfreeze_below(layer, options.train_bn);
  ParamGroup group{.optimizer = options.optimizer,
                   .weights = {},
                   .learning_rate = options.learning_rate.value_or(session().learning_rate(options.optimizer) /
                                                                   options.initial_denom_lr)};
  for (const detail::WeightPolicy& weight : detail::weight_policies(module(), {})) {
    const auto same = [&](const Variable& one) { return one.id() == weight.variable.id(); };
    if (weight.trainable && std::any_of(frozen.begin(), frozen.end(), same)) group.weights.push_back(weight.variable);
  }
  if (group.weights.empty()) return {};
  return session().add_param_group(std::move(group));
}

CallbackState BaseFinetuning::state() const {
  CallbackState out;
  out.numbers["epoch"] = last_epoch_ + 1;
  collect_flags(*module().state(), out.texts["trainable"]);
  const auto weights = module().named_weights();
  const std::vector<ParamGroup>& groups = session().param_groups();
  out.numbers["groups"] = static_cast<double>(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    out.numbers[group_key(i, "learning_rate")] = groups[i].learning_rate;
    out.texts[group_key(i, "optimizer")] = groups[i].optimizer;
    std::string& paths = out.texts[group_key(i, "weights")];
    for (const auto& [path, weight] : weights) {
      const auto same = [id = weight.id()](const Variable& one) { return one.id() == id; };
      if (std::any_of(groups[i].weights.begin(), groups[i].weights.end(), same)) paths += path + "\n";
    }
  }
  return out;
}

void BaseFinetuning::on_resume(const CallbackState& state) {
  resumed_ = true;
  last_epoch_ = detail::count_in(state, "epoch") - 1;
  detail::LayerState& root = *module().state();
  std::string now;
  collect_flags(root, now);
  const std::string flags = text_in(state, "trainable");
  if (flags.size() != now.size()) {
    fail<ValueError>(finetuning_label, "the checkpoint must have the flags of {} layers; got {}", now.size(),
                     flags.size());
  }
  std::size_t next = 0;
  set_flags(root, flags, next);
  const auto weights = module().named_weights();
  for (int i = 0; i < detail::count_in(state, "groups"); ++i) {
    const auto number = static_cast<std::size_t>(i);
    ParamGroup group{.optimizer = text_in(state, group_key(number, "optimizer")),
                     .weights = {},
                     .learning_rate = detail::number_in(state, group_key(number, "learning_rate")).value_or(0)};
    std::istringstream paths(text_in(state, group_key(number, "weights")));
    for (std::string path; std::getline(paths, path);) {
      const auto found =
          std::find_if(weights.begin(), weights.end(), [&](const auto& weight) { return weight.first == path; });
      if (found == weights.end()) {
        fail<ValueError>(finetuning_label, "the module must have the weight \"{}\" of the checkpoint; got none", path);
      }
      group.weights.push_back(found->second);
    }
    session().add_param_group(std::move(group));
  }
}

}  // namespace mezzo
