#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

// Options of networks for images that leave out their classifier, as in Keras and timm.
namespace mezzo::detail {

/// Results of a network for images.
struct FeatureOptions {
  bool include_top = true;     ///< logits
  std::string pooling{};       ///< "avg", "max": one number for each channel; "": the last map
  bool features_only = false;  ///< the maps of all stages
};

/// Checks the pooling of a network: a NameError unless it is one of `names` or "", a ValueError beside its classifier.
void check_pooling(const std::string& where, bool include_top, const std::string& pooling,
                   const std::vector<std::string>& names);

/// Checks the options. A NameError for an unknown pooling, a ValueError for options that exclude each other.
void check_features(const std::string& where, const FeatureOptions& options);

/// The last map of a network, (batch, height, width, channels), or its pooled numbers, (batch, channels).
Value pooled_features(const Value& map, const std::string& pooling);

/// Layers one after another, under their own names, of which some outputs are returned. Those after the last of them
/// are left out.
class MEZZO_API TappedLayers : public Layer {
 public:
  /// `taps`: numbers of the layers, rising.
  TappedLayers(const std::vector<Any<Layer>>& layers, std::vector<std::size_t> taps);

 protected:
  Values call_many(const Values& xs) override;

 private:
  std::vector<Any<Layer>> layers_;
  std::vector<std::size_t> taps_;
};

}  // namespace mezzo::detail
