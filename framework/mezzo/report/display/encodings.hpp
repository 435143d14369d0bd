#pragma once
#include <string>

#include <mezzo/io/file.hpp>

namespace mezzo::detail {

/// RFC 4648, with padding, without line breaks.
std::string base64(const Bytes& bytes);

/// Text for an XML file's content or attribute.
std::string xml_escaped(const std::string& text);

}  // namespace mezzo::detail
