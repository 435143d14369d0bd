#pragma once
#include <string>

#include <mezzo/io/file.hpp>

namespace mezzo::detail {

/// Base64 of RFC 4648, with padding and without line breaks.
std::string base64(const Bytes& bytes);

/// Text escaped for the content or an attribute of an XML file.
std::string xml_escaped(const std::string& text);

}  // namespace mezzo::detail
