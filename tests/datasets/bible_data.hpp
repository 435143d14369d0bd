#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mezzo_tests {

// Compresses a text as Unix' `compress` does, without the header. Writes a clear code after each `clear_after` codes.
inline std::vector<std::uint8_t> lzw(const std::string& text, int clear_after) {
  std::vector<std::uint8_t> out;
  std::size_t bits = 0;
  std::size_t group = 0;
  int width = 9;
  int since_clear = 0;
  std::map<std::string, std::uint32_t> codes;
  const auto put = [&](std::uint32_t code) {
    for (int i = 0; i < width; ++i, ++bits) {
      if (bits % 8 == 0) out.push_back(0);
      out.back() |= static_cast<std::uint8_t>(((code >> i) & 1U) << (bits % 8));
    }
    ++group;
  };
  const auto set_width = [&](int to) {
    while (group % 8 != 0) put(0);
    group = 0;
    width = to;
  };
  const auto code_of = [&](const std::string& part) {
    return part.size() == 1 ? static_cast<unsigned char>(part[0]) : codes.at(part);
  };
  std::string part;
  const auto emit = [&] {
    put(code_of(part));
    // The reader has one code less than the writer.
    if (256 + ++since_clear >= (1 << width)) set_width(width + 1);
  };
  for (const char c : text) {
    const std::string longer = part + c;
    if (longer.size() == 1 || codes.count(longer) != 0) {
      part = longer;
      continue;
    }
    emit();
    if (since_clear == clear_after) {
      put(256);
      set_width(9);
      codes.clear();
      since_clear = 0;
    } else {
      codes.emplace(longer, static_cast<std::uint32_t>(257 + codes.size()));
    }
    part = c;
  }
  emit();
  return out;
}

// Returns the bytes of a bible.data with this text.
inline std::vector<std::uint8_t> bible_data(const std::string& text, std::size_t window, int clear_after = 100000) {
  std::vector<std::uint8_t> out{'E', 'C', '0', '2'};
  out.resize(0x54);
  const auto number = [&](std::size_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::uint8_t>(value >> shift));
  };
  const std::size_t count = (text.size() + window - 1) / window;
  number(window);
  number(count);
  std::vector<std::uint8_t> data;
  const std::size_t begin = out.size() + 4 * (count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    number(begin + data.size());
    const std::vector<std::uint8_t> one = lzw(text.substr(i * window, window), clear_after);
    data.insert(data.end(), one.begin(), one.end());
  }
  number(begin + data.size());
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

}  // namespace mezzo_tests
