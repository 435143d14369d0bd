#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace mezzo::datasets::detail {

// Appends what Unix' `compress` made of at most `limit` bytes, without its header of three bytes: codes of 9 to 16
// bits, the clear code in use (Welch, "A technique for high-performance data compression", 1984). False if a code can't
// be one. What is left once `limit` bytes are made is not looked at.
bool expand_lzw(const std::uint8_t* bytes, std::size_t size, std::size_t limit, std::string& out);

}  // namespace mezzo::datasets::detail
