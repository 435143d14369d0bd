#pragma once
#include <mezzo/nn/config_json.hpp>

namespace mezzo::detail {

/// Keras' compile_config, or the training_config of Keras 2, as read_compile() takes it.
Json keras_compile_in(const Json& config);

}  // namespace mezzo::detail
