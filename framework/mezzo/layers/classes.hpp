#pragma once
#include <vector>

#include <mezzo/nn/saved_class.hpp>

namespace mezzo {

namespace detail {

/// Entry of a layer in a table.
template <class L, class Options>
SavedClass<Layer> saved_layer(const char* name) {
  return saved_class<L, Options, Layer>(name);
}

}  // namespace detail

/// Classes of layers that configs name.
std::vector<detail::SavedClass<Layer>> layer_classes();

/// @name Tables of the folders, each in its classes.cpp; layer_classes() joins them
/// @{
std::vector<detail::SavedClass<Layer>> activation_layer_classes();
std::vector<detail::SavedClass<Layer>> attention_layer_classes();
std::vector<detail::SavedClass<Layer>> convolutional_layer_classes();
std::vector<detail::SavedClass<Layer>> core_layer_classes();
std::vector<detail::SavedClass<Layer>> image_layer_classes();
std::vector<detail::SavedClass<Layer>> merging_layer_classes();
std::vector<detail::SavedClass<Layer>> normalization_layer_classes();
std::vector<detail::SavedClass<Layer>> pooling_layer_classes();
std::vector<detail::SavedClass<Layer>> preprocessing_layer_classes();
std::vector<detail::SavedClass<Layer>> recurrent_layer_classes();
std::vector<detail::SavedClass<Layer>> regularization_layer_classes();
std::vector<detail::SavedClass<Layer>> reshaping_layer_classes();
/// @}

}  // namespace mezzo
