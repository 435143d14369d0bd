#pragma once
#include <string>

#include <mezzo/training/keras_files/class_rules.hpp>

// Translation of mezzo's configs to those of Keras. A ValueError names what Keras lacks.
namespace mezzo::detail {

/// An object of a family other than layers.
Json object_out(KerasFamily family, const Json& object);

/// A layer or model. `policy`: name of the policy of layers without one of their own.
Json keras_layer_out(const Json& layer, const std::string& policy);

/// A layer that is no model.
Json plain_layer_out(const Json& layer, const std::string& policy);

/// Name, trainable and dtype of a layer of that class.
void common_members_out(const Json& config, const std::string& policy, const std::string& class_name, Json& out);

/// An object with module and registered name. "my>Scale" is a class of the program.
Json object_with_module(KerasFamily family, const std::string& class_name, Json config);

/// Numbers of an array in a config of mezzo, as lists in lists.
Json nested_numbers(const Json& tensor);

/// Sizes with -1 as null.
Json sizes_out(const Json& sizes);

}  // namespace mezzo::detail
