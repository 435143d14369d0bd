#pragma once
#include <mezzo/training/keras_files/objects_in.hpp>

namespace mezzo::detail {

/// A layer or model of Keras' config, as read_layer() takes it.
Json keras_layer_in(const Json& object, const KerasPolicies& policies);

/// Policy of most layers in a config; "" if none has one.
std::string most_frequent_policy(const Json& config);

}  // namespace mezzo::detail
