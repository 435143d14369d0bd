#pragma once
#include <mezzo/nn/config_json.hpp>

namespace mezzo::detail {

/// Keras writes the id of an object in several places only to the last of them if the first is in a model inside the
/// model. Returns the config with the id at the first equal object too.
Json with_shared_objects(Json config);

}  // namespace mezzo::detail
