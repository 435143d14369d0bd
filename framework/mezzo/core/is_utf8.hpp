#pragma once
#include <cstddef>
#include <string_view>

namespace mezzo::detail {

/// Start of a text in UTF-8.
struct Utf8Start {
  std::size_t bytes = 0;  ///< of the first character; if it is invalid, of its longest valid prefix, at least 1
  bool valid = false;
};

/// The first character of a text that is not empty, by RFC 3629: no longer forms than needed, no surrogates, nothing
/// above U+10FFFF.
Utf8Start utf8_start(std::string_view text);

/// True if the bytes are UTF-8.
bool is_utf8(std::string_view text);

}  // namespace mezzo::detail
