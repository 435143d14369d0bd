#pragma once
#include <string>
#include <vector>

#include <mezzo/nn/config_json.hpp>

namespace mezzo::detail {

/// Keras' compile_config for the config of write_compile(). `outputs`: names of the model's outputs. A ValueError names
/// what Keras lacks.
Json keras_compile_out(const Json& config, const std::vector<std::string>& outputs);

}  // namespace mezzo::detail
