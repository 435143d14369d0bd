#include <mezzo/models/feature_maps.hpp>

#include <algorithm>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {

void check_pooling(const std::string& where, bool include_top, const std::string& pooling,
                   const std::vector<std::string>& names) {
  if (pooling.empty()) return;
  if (std::find(names.begin(), names.end(), pooling) == names.end()) fail_unknown(where, "pooling", pooling, names);
  if (include_top) {
    fail<ValueError>(where, "pooling needs include_top = false; got \"{}\" with the classifier", pooling);
  }
}

void check_features(const std::string& where, const FeatureOptions& options) {
  const std::string& pooling = options.pooling;
  check_pooling(where, options.include_top, pooling, {"avg", "max"});
  if (options.features_only && !pooling.empty()) {
    fail<ValueError>(where, "features_only excludes pooling; got \"{}\"", pooling);
  }
}

Value pooled_features(const Value& map, const std::string& pooling) {
  if (pooling.empty()) return map;
  const ReduceOptions over_map{.axes = {1, 2}};
  return pooling == "avg" ? mean(map, over_map) : max(map, over_map);
}

TappedLayers::TappedLayers(const std::vector<Any<Layer>>& layers, std::vector<std::size_t> taps)
    : Layer("TappedLayers"),
      layers_(layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(taps.back()) + 1),
      taps_(std::move(taps)) {}

Values TappedLayers::call_many(const Values& xs) {
  Values out;
  Value x = xs.front();
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    x = (*layers_[i])(x);
    if (std::find(taps_.begin(), taps_.end(), i) != taps_.end()) out.push_back(x);
  }
  return out;
}

}  // namespace mezzo::detail
