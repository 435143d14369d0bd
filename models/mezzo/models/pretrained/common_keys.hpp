#pragma once
#include <string>

namespace mezzo::detail {

class ConfigFields;

/// True for keys that a config.json of any family may have and that have no effect on outputs: token ids, options of
/// generation, names and versions.
bool is_common_key(const std::string& key);

/// Keys of any family that change the outputs if they don't have their default.
void describe_common(ConfigFields& fields);

}  // namespace mezzo::detail
