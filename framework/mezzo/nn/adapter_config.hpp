#pragma once
#include <mezzo/nn/config_json.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo::detail {

/// Adapters of a layer and those below, for model files: their options, the active ones and the weights that they
/// froze. Null if there are none.
Json write_adapters(const Layer& layer);

/// Makes adapters of such a text in a layer that is built and has none. A ValueError if a part is missing, of another
/// type or out of range, or names a layer that can't have adapters.
void read_adapters(const Json& json, const Layer& layer);

}  // namespace mezzo::detail
