#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace mezzo::detail {

/// The bytes of a number in memory order, which is little-endian on all CPUs of this library.
template <class T>
std::string bytes_of_number(T number) {
  std::string out(sizeof number, '\0');
  std::memcpy(out.data(), &number, sizeof number);
  return out;
}

/// A message of protocol buffers, encoded field by field: a key (number of the field, wire type), then the value. A
/// repeated field is added once for each element; an entry of a map is a message {1: key, 2: value}.
class ProtoMessage {
 public:
  /// A field of type bool, enum or of an integer type.
  ProtoMessage& integer(std::uint32_t field, std::int64_t number) {
    key(field, Wire::varint);
    varint(static_cast<std::uint64_t>(number));
    return *this;
  }

  /// A field of type double.
  ProtoMessage& real(std::uint32_t field, double number) {
    key(field, Wire::bits64);
    bytes_ += bytes_of_number(number);
    return *this;
  }

  /// A field of type float.
  ProtoMessage& real32(std::uint32_t field, double number) {
    key(field, Wire::bits32);
    bytes_ += bytes_of_number(static_cast<float>(number));
    return *this;
  }

  /// A field of type string or bytes.
  ProtoMessage& text(std::uint32_t field, std::string_view value) {
    key(field, Wire::bytes);
    varint(value.size());
    bytes_ += value;
    return *this;
  }

  /// A field whose type is a message.
  ProtoMessage& message(std::uint32_t field, const ProtoMessage& value) { return text(field, value.bytes_); }

  /// A packed repeated field of type double.
  ProtoMessage& reals(std::uint32_t field, const std::vector<double>& numbers) {
    std::string packed;
    for (const double number : numbers) packed += bytes_of_number(number);
    return text(field, packed);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  enum class Wire : std::uint32_t { varint = 0, bits64 = 1, bytes = 2, bits32 = 5 };

  void varint(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) bytes_ += static_cast<char>((number & 0x7F) | 0x80);
    bytes_ += static_cast<char>(number);
  }

  void key(std::uint32_t field, Wire wire) { varint((field << 3) | static_cast<std::uint32_t>(wire)); }

  std::string bytes_;
};

}  // namespace mezzo::detail
