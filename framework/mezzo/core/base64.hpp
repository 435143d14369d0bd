#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <mezzo/core/api.hpp>

// Base64 of RFC 4648, without line breaks.
namespace mezzo::detail {

/// Digits of `count` bytes, with padding.
MEZZO_API std::string encode_base64(const void* bytes, std::size_t count);

/// Bytes of digits without their padding; none for another character. Bits behind the last whole byte are left out.
MEZZO_API std::optional<std::string> decode_base64(std::string_view digits);

}  // namespace mezzo::detail
