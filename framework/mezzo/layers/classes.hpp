#pragma once
#include <vector>

#include <mezzo/nn/saved_class.hpp>

namespace mezzo {

/// Classes of layers that configs name.
std::vector<detail::SavedClass<Layer>> layer_classes();

/// Those of convolutions, pooling and the other layers of 1 to 3 spatial axes; a part of layer_classes().
std::vector<detail::SavedClass<Layer>> spatial_layer_classes();
/// Those of preprocessing, which layer_classes() includes.
std::vector<detail::SavedClass<Layer>> preprocessing_classes();
/// Those of attention and masks, which layer_classes() contains.
std::vector<detail::SavedClass<Layer>> attention_classes();

}  // namespace mezzo
