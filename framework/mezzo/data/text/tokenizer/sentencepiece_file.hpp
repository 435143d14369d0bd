#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mezzo::detail {

/// A piece of a SentencePiece model.
struct SentencePiecePiece {
  enum class Kind { normal = 1, unknown, control, user_defined, unused, byte } kind = Kind::normal;
  std::string text{};
};

/// True if a file may be a SentencePiece model: its first bytes are those of a list of pieces.
bool may_be_sentencepiece(std::string_view bytes);

/// Checks a SentencePiece model, the protobuf message ModelProto, so far that libsentencepiece can read it: the library
/// trusts such files. Returns the pieces by id. Throws a FileError that starts with `where` for a message that is
/// malformed, pieces or scores that are none, and a map of characters that leads out of itself.
std::vector<SentencePiecePiece> check_sentencepiece(std::string_view bytes, const std::string& where);

}  // namespace mezzo::detail
