#pragma once
#include <map>
#include <string>

namespace mezzo {

/// What a notebook may show for a value, one entry a MIME type, as in Jupyter's messages: text as it is, image/png in
/// base64. "text/plain" is always there.
using MimeBundle = std::map<std::string, std::string>;

}  // namespace mezzo
