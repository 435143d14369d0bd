#pragma once

#include <cstdint>
#include <string>

#include <mezzo/io/file.hpp>

#include "support/recorded.hpp"

namespace mezzo_tests {

// Bytes of a hexadecimal text.
inline mezzo::detail::Bytes bytes_of_hex(const std::string& text) {
  mezzo::detail::Bytes bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// A picture file that tests/parity/image.py recorded.
inline mezzo::detail::Bytes picture_file(const std::string& name) {
  return bytes_of_hex(recorded("image").at("decode").at(name).at("file").get<std::string>());
}

}  // namespace mezzo_tests
