#pragma once

#include <string>

#include "fuzz.hpp"
#include "support/recorded.hpp"

namespace mezzo_fuzz {

// The recorded pictures of a format, "png" or the like, each without its first `skipped` bytes.
inline std::vector<Bytes> recorded_pictures(const std::string& format, std::size_t skipped) {
  std::vector<Bytes> out;
  for (const auto& [name, one] : mezzo_tests::recorded("image").at("decode").items()) {
    if (name.rfind(format, 0) != 0) continue;
    const auto text = one.at("file").get<std::string>();
    Bytes& bytes = out.emplace_back();
    for (std::size_t i = 2 * skipped; i < text.size(); i += 2) {
      bytes.push_back(static_cast<std::uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
    }
  }
  return out;
}

}  // namespace mezzo_fuzz
