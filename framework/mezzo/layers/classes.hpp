#pragma once
#include <vector>

#include <mezzo/nn/saved_class.hpp>

namespace mezzo {

/// Classes of layers that configs name.
std::vector<detail::SavedClass<Layer>> layer_classes();

/// @name Families, which layer_classes() includes
/// @{
std::vector<detail::SavedClass<Layer>> attention_classes();  ///< attention and masks
std::vector<detail::SavedClass<Layer>>
further_layer_classes();  ///< merging, normalization, noise, activations, positions
std::vector<detail::SavedClass<Layer>> image_layer_classes();  ///< changes of images, without those of
                                                               ///< preprocessing_classes()
std::vector<detail::SavedClass<Layer>> preprocessing_classes();
std::vector<detail::SavedClass<Layer>> recurrent_layer_classes();
std::vector<detail::SavedClass<Layer>> spatial_layer_classes();  ///< convolutions, pooling, others of 1 to 3 axes
/// @}

}  // namespace mezzo
