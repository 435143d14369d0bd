#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <mezzo/training/loggers/event_file.hpp>

namespace mezzo_tests {

// A record of a file of TensorBoard: the fields of protocol buffers by number, numbers as text.
using Message = std::multimap<std::uint32_t, std::string>;

inline std::uint64_t varint(const std::string& bytes, std::size_t& at) {
  std::uint64_t out = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.at(at++));
    out |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80) return out;
  }
}

inline Message message_of(const std::string& bytes) {
  Message out;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::uint64_t key = varint(bytes, at);
    std::uint64_t size = key % 8 == 1 ? 8 : 4;
    if (key % 8 == 0) {
      out.emplace(static_cast<std::uint32_t>(key / 8), std::to_string(varint(bytes, at)));
      continue;
    }
    if (key % 8 == 2) size = varint(bytes, at);
    out.emplace(static_cast<std::uint32_t>(key / 8), bytes.substr(at, size));
    at += size;
  }
  return out;
}

template <class T>
T number(const std::string& bytes) {
  T out{};
  std::memcpy(&out, bytes.data(), sizeof out);
  return out;
}

inline std::string only_file(const std::string& folder) {
  std::string path;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    BOOST_TEST(path.empty());
    path = entry.path().string();
  }
  return path;
}

// Messages `tensorflow.Event` of an event file. Checks the checksums.
inline std::vector<Message> records_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<Message> out;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::string length = bytes.substr(at, 8);
    const auto size = number<std::uint64_t>(length);
    BOOST_TEST(number<std::uint32_t>(bytes.substr(at + 8, 4)) == mezzo::detail::masked_crc32c(length));
    const std::string data = bytes.substr(at + 12, size);
    BOOST_TEST(number<std::uint32_t>(bytes.substr(at + 12 + size, 4)) == mezzo::detail::masked_crc32c(data));
    at += 16 + size;
    out.push_back(message_of(data));
  }
  return out;
}

// All summaries of an event file: "<step> <tag>" and the message of the value.
inline std::vector<std::pair<std::string, Message>> events_of(const std::string& path) {
  std::vector<std::pair<std::string, Message>> out;
  for (const Message& event : records_of(path)) {
    if (event.count(3) == 1) BOOST_TEST(event.find(3)->second == "brain.Event:2");
    if (event.count(5) == 0) continue;
    const Message value = message_of(message_of(event.find(5)->second).find(1)->second);
    out.emplace_back(event.find(2)->second + " " + value.find(1)->second, value);
  }
  return out;
}

}  // namespace mezzo_tests
