#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace mezzo::detail {

/// A field of a protobuf message.
struct ProtobufField {
  std::uint32_t number = 0;
  enum class Kind { integer, fixed64, bytes, fixed32 } kind = Kind::integer;
  std::uint64_t value = 0;   ///< of an integer, fixed64 or fixed32
  std::string_view bytes{};  ///< text, bytes or a message
};

/// Goes through the fields of a protobuf message, in the wire format. Groups, which are obsolete, are errors.
class ProtobufReader {
 public:
  /// The message and `where` must outlive the reader.
  ProtobufReader(std::string_view message, const std::string& where) : rest_(message), where_(where) {}

  /// Reads the next field; false at the end. Throws a FileError that starts with `where` for a malformed message.
  bool next(ProtobufField& field);

 private:
  std::uint64_t varint();
  std::uint64_t fixed(std::size_t bytes);
  std::string_view take(std::uint64_t count);
  [[noreturn]] void refuse() const;

  std::string_view rest_;
  const std::string& where_;
};

}  // namespace mezzo::detail
