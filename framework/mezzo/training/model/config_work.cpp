#include <mezzo/training/model/config_work.hpp>

#include <map>
#include <numeric>
#include <vector>

namespace mezzo::detail {
namespace {

// Numbers of calls are doubles: the deepest nesting of the longest lists is below the largest double.
double calls_of(const Json& part);

double calls_of_parts(const Json& list) {
  return std::accumulate(list.begin(), list.end(), 0.0,
                         [](double sum, const Json& part) { return sum + calls_of(part); });
}

/// A member that is a list; else an empty list.
const Json& list_of(const Json& config, const char* name) {
  static const Json none = Json::array();
  const auto found = config.find(name);
  return found != config.end() && found->is_array() ? *found : none;
}

double calls_of_sequence(const Json& config) {
  std::vector<double> layers;
  for (const Json& layer : list_of(config, "layers")) layers.push_back(calls_of(layer));
  double sum = 1;
  for (const Json& place : list_of(config, "order")) {
    const auto index = place.is_number_unsigned() ? place.get<std::size_t>() : layers.size();
    sum += index < layers.size() ? layers[index] : 1;
  }
  return sum;
}

double calls_of_graph(const Json& config) {
  std::map<std::string, double> layers;
  for (const Json& layer : list_of(config, "layers")) {
    const auto name = layer.is_object() ? layer.find("name") : layer.end();
    if (name != layer.end() && name->is_string()) layers[name->get<std::string>()] = calls_of(layer);
  }
  double sum = 1;
  for (const Json& call : list_of(config, "calls")) {
    const auto layer = call.is_object() ? call.find("layer") : call.end();
    const bool named = layer != call.end() && layer->is_string();
    const auto known = named ? layers.find(layer->get<std::string>()) : layers.end();
    sum += known == layers.end() ? 1 : known->second;
  }
  return sum;
}

double calls_of(const Json& part) {
  if (!part.is_structured()) return 0;
  const auto config = part.is_object() ? part.find("config") : part.end();
  const auto name = part.is_object() ? part.find("class_name") : part.end();
  if (config == part.end() || name == part.end()) return calls_of_parts(part);
  if (!config->is_object()) return 1;
  if (*name == "Sequential") return calls_of_sequence(*config);
  if (*name == "Functional") return calls_of_graph(*config);
  return 1 + calls_of_parts(*config);
}

}  // namespace

std::int64_t most_calls(std::uint64_t file_bytes) { return 16384 + static_cast<std::int64_t>(file_bytes / 8); }

std::int64_t most_ops(std::uint64_t file_bytes) { return 65536 + static_cast<std::int64_t>(file_bytes / 8); }

void check_calls(const Json& model, std::uint64_t file_bytes, const std::string& where) {
  const double calls = calls_of(model);
  const std::int64_t most = most_calls(file_bytes);
  if (calls <= static_cast<double>(most)) return;
  fail<ValueError>(where, "a model whose file has {} bytes must make at most {} calls of layers; got {}", file_bytes,
                   most, calls);
}

}  // namespace mezzo::detail
