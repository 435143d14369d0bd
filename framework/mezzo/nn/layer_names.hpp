#pragma once
#include <string>

#include <mezzo/core/api.hpp>

namespace mezzo::detail {

/// Throws a NameError unless the name is UTF-8, so that files can hold it. `where` starts the error.
MEZZO_API void check_text_name(const std::string& where, const std::string& name);

/// Returns the name of a layer, in its options or in its parent; "": none. A NameError unless model files can hold it:
/// it is UTF-8 and not a path. Paths of layers are joined by "/".
MEZZO_API const std::string& checked_layer_name(const std::string& where, const std::string& name);

/// The same for the name in the options of a class.
MEZZO_API const std::string& name_of_layer(const char* kind, const std::string& name);

}  // namespace mezzo::detail
