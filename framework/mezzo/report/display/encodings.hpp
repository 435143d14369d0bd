#pragma once
#include <string>

namespace mezzo::detail {

/// Text escaped for the content or an attribute of an XML file.
std::string xml_escaped(const std::string& text);

}  // namespace mezzo::detail
