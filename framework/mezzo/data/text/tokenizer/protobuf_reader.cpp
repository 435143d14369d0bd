#include <mezzo/data/text/tokenizer/protobuf_reader.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

void ProtobufReader::refuse() const { fail<FileError>(where_, "must be a protobuf message; it is damaged or cut off"); }

std::string_view ProtobufReader::take(std::uint64_t count) {
  if (count > rest_.size()) refuse();
  const std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

std::uint64_t ProtobufReader::varint() {
  constexpr unsigned most_bits = 64;
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < most_bits; shift += 7) {
    const auto byte = static_cast<unsigned char>(take(1).front());
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
  refuse();
}

std::uint64_t ProtobufReader::fixed(std::size_t bytes) {
  std::uint64_t value = 0;
  const std::string_view taken = take(bytes);
  for (std::size_t i = bytes; i > 0; --i) value = value << 8U | static_cast<unsigned char>(taken[i - 1]);
  return value;
}

bool ProtobufReader::next(ProtobufField& field) {
  using Kind = ProtobufField::Kind;
  if (rest_.empty()) return false;
  constexpr std::uint64_t integer = 0, fixed64 = 1, bytes = 2, fixed32 = 5, most_key = (std::uint64_t{1} << 32U) - 1;
  const std::uint64_t key = varint();
  const std::uint64_t type = key % 8;
  if (key > most_key || key < 8) refuse();
  field = {};
  field.number = static_cast<std::uint32_t>(key / 8);
  if (type == integer) {
    field.value = varint();
  } else if (type == fixed64) {
    field.kind = Kind::fixed64;
    field.value = fixed(8);
  } else if (type == bytes) {
    field.kind = Kind::bytes;
    field.bytes = take(varint());
  } else if (type == fixed32) {
    field.kind = Kind::fixed32;
    field.value = fixed(4);
  } else {
    refuse();
  }
  return true;
}

}  // namespace mezzo::detail
