#pragma once
#include <map>
#include <string>

namespace mezzo {

/// Representations of a value for a notebook, one per MIME type, as in Jupyter's messages: text types as plain text,
/// image/png in base64. "text/plain" is always present.
using MimeBundle = std::map<std::string, std::string>;

}  // namespace mezzo
