#include <algorithm>
#include <stdexcept>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/pattern.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/adapters.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/nn/weight_access.hpp>
#include <mezzo/nn/weight_names.hpp>

// Adapters of layers.
namespace mezzo {
namespace {

using detail::PlacedLayer;

/// Parts of a regular expression between the "|" outside of all brackets.
std::vector<std::string> alternatives(const std::string& expression) {
  std::vector<std::string> out(1);
  int depth = 0;
  bool escaped = false;
  for (const char c : expression) {
    if (!escaped && c == '|' && depth == 0) {
      out.emplace_back();
      continue;
    }
    if (!escaped && (c == '(' || c == '[')) ++depth;
    if (!escaped && (c == ')' || c == ']')) --depth;
    escaped = !escaped && c == '\\';
    out.back() += c;
  }
  return out;
}

detail::Pattern pattern_of(const std::string& text, const std::string& where) {
  try {
    return detail::Pattern(text);
  } catch (const std::runtime_error& error) {
    fail<ValueError>(where, "targets must be a regular expression; got \"{}\" ({})", text, error.what());
  }
}

bool can_have_adapters(const PlacedLayer& one) { return detail::adaptable_kernel(*one.layer) != nullptr; }

/// Paths of the layers that can have adapters, for errors.
std::string valid_targets(const std::vector<PlacedLayer>& layers) {
  constexpr std::size_t shown = 20;
  std::vector<std::string> paths;
  for (const PlacedLayer& one : layers) {
    if (can_have_adapters(one)) paths.push_back(one.path);
  }
  if (paths.empty()) return "none";
  const std::size_t others = paths.size() - std::min(paths.size(), shown);
  paths.resize(paths.size() - others);
  return fmt::format("{}{}", fmt::join(paths, ", "), others > 0 ? fmt::format(" and {} more", others) : "");
}

std::string own_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Throws for a part of the expression that matches no layer with a kernel, or the name of a layer without one.
void check_targets(const std::string& targets, const std::vector<PlacedLayer>& layers, const std::string& where) {
  const detail::Pattern whole = pattern_of(targets, where);
  std::vector<std::string> parts = alternatives(targets);
  for (const std::string& part : parts) {
    try {
      const detail::Pattern valid(part);
    } catch (const std::runtime_error&) {
      parts = {targets};  // flags at the start apply to all parts
      break;
    }
  }
  for (const std::string& part : parts) {
    const detail::Pattern pattern(part);
    bool any = false;
    for (const PlacedLayer& one : layers) {
      const bool can = can_have_adapters(one);
      any |= can && pattern.is_found_in(one.path);
      if (can || one.layer->weights.empty() || one.path.empty() || !pattern.is_found_in(own_name(one.path))) continue;
      fail<ValueError>(where,
                       "targets must match layers that can have adapters; \"{}\" matches \"{}\", a {}; valid: {}", part,
                       one.path, one.layer->kind, valid_targets(layers));
    }
    if (any) continue;
    fail<ValueError>(where,
                     "targets must match paths of layers that can have adapters; got \"{}\", which matches "
                     "none; valid: {}",
                     part, valid_targets(layers));
  }
}

/// The layers that get adapters.
std::vector<PlacedLayer> targets_of(const LoraOptions& options, const std::vector<PlacedLayer>& layers,
                                    const std::string& where) {
  std::vector<PlacedLayer> out;
  if (!options.targets.empty()) check_targets(options.targets, layers, where);
  const detail::Pattern pattern(options.targets);
  for (const PlacedLayer& one : layers) {
    if (can_have_adapters(one) && pattern.is_found_in(one.path)) out.push_back(one);
  }
  if (out.empty()) {
    fail<ValueError>(where,
                     "the layer must be one that can have adapters, or contain one: Dense, EinsumDense, Embedding, "
                     "ReversibleEmbedding, attention; got none");
  }
  return out;
}

detail::AdapterPlan plan_of(const LoraOptions& options) {
  return {.name = options.name,
          .rank = options.rank,
          .alpha = options.alpha.value_or(static_cast<double>(options.rank)),
          .use_rslora = options.use_rslora,
          .dropout = options.dropout,
          .a_initializer = options.a_initializer,
          .b_initializer = options.b_initializer};
}

}  // namespace

void detail::enable_lora(const Layer& layer, const LoraOptions& options, const std::string& label) {
  const std::string where = label + " enable_lora:";
  const Shared<LayerState>& state = layer.state();
  const detail::AdapterPlan plan = plan_of(options);
  detail::check_plan(plan, where);
  if (!options.a_initializer || !options.b_initializer) {
    fail<ValueError>(where, "initializers must be given; got an empty Any<Initializer>");
  }
  if (Trace::current() != nullptr) fail<ValueError>(where, "must be called between steps; got a call inside one");
  if (layer.weights().empty() && !state->called) {
    fail<ValueError>(where, "the layer must be built, by build() or a call; got one without weights");
  }
  const detail::WeightAccess access(layer.weights(), label, "enable_lora");
  const std::vector<PlacedLayer> targets = targets_of(options, detail::layers_below(state), where);
  for (const PlacedLayer& one : targets) detail::check_new_adapter(one, plan.name, where);
  for (const PlacedLayer& one : targets) detail::add_adapter(*one.layer, plan, where);
  for (detail::Adapters* const adapters : detail::all_adapters(state)) adapters->activate(plan.name);
  detail::check_weight_names(*state, label);
  if (!state->children.empty()) detail::freeze_others(*state, *detail::adapters_of(*targets.front().layer));
}

}  // namespace mezzo
