#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <mezzo/nn/config_json.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo::detail {

/// Layers that occur in several places of a config, such as in a model and in a model inside it. Applies on this thread
/// for its lifetime: write_layer() adds a number "shared" to each layer, and read_layer() makes one layer of those with
/// the same number.
class SharedLayers {
 public:
  SharedLayers();
  ~SharedLayers();
  SharedLayers(const SharedLayers&) = delete;
  SharedLayers& operator=(const SharedLayers&) = delete;

  /// The innermost one of this thread; null if there is none.
  static SharedLayers* current();

  /// Number of a layer that is written.
  std::int64_t number_of(const LayerState& layer);

  /// Removes the numbers of layers that were written once.
  void keep_repeated(Json& config) const;

  /// The layer that was read with that number, or an empty handle. A ValueError if its class is another.
  Any<Layer> find(std::int64_t number, const std::string& class_name) const;
  void add(std::int64_t number, const std::string& class_name, const Any<Layer>& layer);

 private:
  struct Written {
    std::int64_t number = 0;
    int count = 0;
  };
  std::map<const LayerState*, Written> written_;
  std::map<std::int64_t, std::pair<std::string, Any<Layer>>> read_;
  SharedLayers* outer_;
};

}  // namespace mezzo::detail
