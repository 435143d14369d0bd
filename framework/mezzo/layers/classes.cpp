#include <mezzo/layers/classes.hpp>

namespace mezzo {

std::vector<detail::SavedClass<Layer>> layer_classes() {
  std::vector<detail::SavedClass<Layer>> all;
  for (const auto& table : {activation_layer_classes(), attention_layer_classes(), convolutional_layer_classes(),
                            core_layer_classes(), image_layer_classes(), merging_layer_classes(),
                            normalization_layer_classes(), pooling_layer_classes(), preprocessing_layer_classes(),
                            recurrent_layer_classes(), regularization_layer_classes(), reshaping_layer_classes()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

}  // namespace mezzo
