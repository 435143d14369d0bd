#include <mezzo/nn/adapter_config.hpp>

#include <algorithm>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/adapters.hpp>
#include <mezzo/nn/quantize_weights.hpp>

namespace mezzo::detail {
namespace {

constexpr const char* config_label = "[config] lora:";

std::string what(const char* member) { return fmt::format("[config] lora {}", member); }

Json write_adapter(const Adapter& one) {
  return {{"name", one.name},
          {"rank", one.rank()},
          {"alpha", write_double(one.alpha)},
          {"use_rslora", one.use_rslora},
          {"dropout", write_double(one.dropout)}};
}

AdapterPlan read_adapter(const Json& json) {
  AdapterPlan plan{.name = read_string(member(json, "name", config_label), what("name")),
                   .rank = read_size(member(json, "rank", config_label), what("rank")),
                   .alpha = read_double(member(json, "alpha", config_label), what("alpha")),
                   .use_rslora = read_bool(member(json, "use_rslora", config_label), what("use_rslora")),
                   .dropout = read_double(member(json, "dropout", config_label), what("dropout"))};
  check_plan(plan, config_label);
  return plan;
}

const Json& list_in(const Json& json, const char* name) {
  const Json& list = member(json, name, config_label);
  if (!list.is_array()) fail<ValueError>(config_label, "\"{}\" must be a list; got {}", name, excerpt(list));
  return list;
}

/// Makes the adapters of one layer.
void read_layer(const Json& json, const std::vector<PlacedLayer>& layers) {
  const std::string path = read_string(member(json, "path", config_label), what("path"));
  const auto found = std::find_if(layers.begin(), layers.end(), [&](const PlacedLayer& one) {
    return one.path == path && adaptable_kernel(*one.layer) != nullptr;
  });
  if (found == layers.end()) fail<ValueError>(config_label, "no layer \"{}\" can have adapters", path);
  Adapters& adapters = *adaptable_kernel(*found->layer)->state()->adapters;
  for (const Json& item : list_in(json, "adapters")) {
    const AdapterPlan plan = read_adapter(item);
    if (adapters.find(plan.name) != nullptr) {
      fail<ValueError>(config_label, "names of adapters must differ; got \"{}\" twice in \"{}\"", plan.name, path);
    }
    add_adapter(*found->layer, plan, config_label);
  }
  if (adapters.all.empty()) fail<ValueError>(config_label, "layer \"{}\" must have adapters; got none", path);
  adapters.froze_kernel = read_bool(member(json, "froze_kernel", config_label), what("froze_kernel"));
  const std::string active = read_string(member(json, "active", config_label), what("active"));
  if (!active.empty() && adapters.find(active) == nullptr) {
    fail<ValueError>(config_label, "active must name adapters of \"{}\"; got \"{}\"", path, active);
  }
  adapters.activate(active);
}

}  // namespace

Json write_adapters(const Layer& layer) {
  Json layers = Json::array(), frozen = Json::array();
  std::set<const void*> ids;
  for (const PlacedLayer& one : layers_below(layer.state())) {
    const Adapters* const adapters = adapters_of(*one.layer);
    if (adapters == nullptr) continue;
    Json all = Json::array();
    for (const Adapter& each : adapters->all) all.push_back(write_adapter(each));
    layers.push_back({{"path", one.path},
                      {"adapters", all},
                      {"active", adapters->active},
                      {"froze_kernel", adapters->froze_kernel}});
    for (const auto& weight : adapters->frozen) ids.insert(weight.get());
  }
  if (layers.empty()) return nullptr;
  for (const auto& [path, weight] : layer.named_weights()) {
    if (ids.count(weight.id()) != 0) frozen.push_back(path);
  }
  return {{"layers", layers}, {"frozen", frozen}};
}

void read_adapters(const Json& json, const Layer& layer) {
  const std::vector<PlacedLayer> layers = layers_below(layer.state());
  for (const Json& item : list_in(json, "layers")) read_layer(item, layers);
  const std::vector<Adapters*> adapted = all_adapters(layer.state());
  if (adapted.empty()) fail<ValueError>(config_label, "layers must have adapters; got none");
  const auto weights = layer.named_weights();
  for (const Json& item : list_in(json, "frozen")) {
    const std::string path = read_string(item, what("frozen"));
    const auto found = std::find_if(weights.begin(), weights.end(), [&](const auto& one) { return one.first == path; });
    const bool kernel =
        found != weights.end() && found->second.state()->adapters && !found->second.state()->adapters->all.empty();
    if (found == weights.end() || kernel) {
      fail<ValueError>(config_label, "frozen must name weights of the model without adapters; got \"{}\"", path);
    }
    if (!found->second.trainable()) continue;
    found->second.state()->trainable = false;
    adapted.front()->frozen.push_back(found->second.state());
  }
  require_no_adapters(*layer.state(), config_label);
}

}  // namespace mezzo::detail
