#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace mezzo_tests {

// The bytes of a safetensors file with that header and `data` zero bytes.
inline std::vector<std::uint8_t> safetensors_bytes(const std::string& header, std::size_t data = 0) {
  std::vector<std::uint8_t> bytes(8 + header.size() + data);
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, sizeof length);
  std::memcpy(bytes.data() + 8, header.data(), header.size());
  return bytes;
}

// The entry of one tensor in the header.
inline std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                          const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

}  // namespace mezzo_tests
