#include <mezzo/data/text/tokenizer/sentencepiece_file.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/is_utf8.hpp>
#include <mezzo/data/text/tokenizer/protobuf_reader.hpp>
#include <mezzo/data/text/tokenizer/vocabulary.hpp>
#include <mezzo/io/file.hpp>

// Numbers of fields are those of sentencepiece_model.proto.
namespace mezzo::detail {
namespace {

using Kind = ProtobufField::Kind;

void expect(const ProtobufField& field, Kind kind, const char* name, const std::string& where) {
  if (field.kind != kind) fail<FileError>(where, "{} must have the type of its field; it has another one", name);
}

bool is_text(std::string_view text) { return is_utf8(text) && text.find('\0') == std::string_view::npos; }

SentencePiecePiece read_piece(std::string_view message, std::size_t id, const std::string& where) {
  constexpr std::uint32_t text = 1, score = 2, kind = 3;
  constexpr std::size_t longest_piece = 4096;
  SentencePiecePiece piece;
  ProtobufReader reader(message, where);
  for (ProtobufField field; reader.next(field);) {
    if (field.number == text) {
      expect(field, Kind::bytes, "piece", where);
      piece.text = field.bytes;
    } else if (field.number == score) {
      expect(field, Kind::fixed32, "score", where);
      float number = 0;
      const auto bits = static_cast<std::uint32_t>(field.value);
      std::memcpy(&number, &bits, sizeof number);
      if (!std::isfinite(number)) fail<FileError>(where, "the score of piece {} must be finite; got {}", id, number);
    } else if (field.number == kind) {
      expect(field, Kind::integer, "type", where);
      if (field.value < 1 || field.value > 6) {
        fail<FileError>(where, "the type of piece {} must be 1 to 6; got {}", id, field.value);
      }
      piece.kind = static_cast<SentencePiecePiece::Kind>(field.value);
    }
  }
  if (piece.text.empty() || piece.text.size() > longest_piece || !is_text(piece.text)) {
    fail<FileError>(where, "piece {} must be a text of 1 to {} bytes of UTF-8; got {} bytes", id, longest_piece,
                    piece.text.size());
  }
  return piece;
}

void check_trainer(std::string_view message, const std::string& where) {
  constexpr std::uint32_t model_type = 3, byte_fallback = 35, unk_surface = 44;
  ProtobufReader reader(message, where);
  for (ProtobufField field; reader.next(field);) {
    if (field.number == model_type) {
      expect(field, Kind::integer, "model_type", where);
      if (field.value < 1 || field.value > 4) {
        fail<FileError>(where, "model_type must be 1 to 4 (unigram, BPE, word, character); got {}", field.value);
      }
    }
    if (field.number == byte_fallback) expect(field, Kind::integer, "byte_fallback", where);
    if (field.number == unk_surface) {
      expect(field, Kind::bytes, "unk_surface", where);
      if (!is_text(field.bytes)) fail<FileError>(where, "unk_surface must be UTF-8");
    }
  }
}

/// A map of characters: the size of a double-array trie, its 32-bit units (those of Darts-clone), and texts that end
/// with zeros. The library follows units and texts without a check.
class CharacterMapCheck {
 public:
  CharacterMapCheck(std::string_view bytes, const std::string& where) : where_(where) {
    const auto number = [&](std::size_t at) {
      return static_cast<std::uint32_t>(little_endian(reinterpret_cast<const std::uint8_t*>(bytes.data()) + at, 4));
    };
    constexpr std::size_t largest = std::size_t{16} << 20U;  // in bytes; those of the library have 240 kB
    const std::size_t size = bytes.size() < 4 ? 0 : number(0);
    if (bytes.size() > largest || size < 4 || size % 4 != 0 || size >= bytes.size() - 4 || bytes.back() != '\0') {
      refuse();
    }
    texts_ = bytes.size() - 4 - size;
    for (std::size_t i = 0; i < size / 4; ++i) units_.push_back(number(4 + 4 * i));
  }

  /// Follows all transitions.
  void run() {
    std::vector<bool> seen(units_.size());
    std::vector<std::size_t> pending{offset(units_[0])};
    while (!pending.empty()) {
      const std::size_t base = pending.back();
      pending.pop_back();
      if ((base | 0xFFU) >= units_.size()) refuse();
      if (seen[base]) continue;
      seen[base] = true;
      for (std::size_t byte = 0; byte < 256; ++byte) {
        const std::uint32_t unit = units_[base ^ byte];
        if ((unit & 0x800000FFU) != byte) continue;
        const std::size_t next = (base ^ byte) ^ offset(unit);
        if (next >= units_.size()) refuse();
        const bool has_text = (unit >> 8U & 1U) != 0;
        if (has_text && (units_[next] & 0x7FFFFFFFU) >= texts_) refuse();
        pending.push_back(next);
      }
    }
  }

 private:
  static std::size_t offset(std::uint32_t unit) {
    return static_cast<std::size_t>(unit >> 10U) << ((unit & 0x200U) >> 6U);
  }
  [[noreturn]] void refuse() const {
    fail<FileError>(where_, "precompiled_charsmap must hold a trie and its texts; it is damaged");
  }

  const std::string& where_;
  std::vector<std::uint32_t> units_;
  std::size_t texts_ = 0;  // bytes of the texts
};

void check_normalizer(std::string_view message, const std::string& where) {
  constexpr std::uint32_t charsmap = 2, first_flag = 3, last_flag = 5;
  ProtobufReader reader(message, where);
  for (ProtobufField field; reader.next(field);) {
    if (field.number >= first_flag && field.number <= last_flag) {
      expect(field, Kind::integer, "a flag of the normalizer", where);
    }
    if (field.number != charsmap) continue;
    expect(field, Kind::bytes, "precompiled_charsmap", where);
    if (!field.bytes.empty()) CharacterMapCheck(field.bytes, where).run();
  }
}

void check_kinds(const std::vector<SentencePiecePiece>& pieces, const std::string& where) {
  const auto count = [&](SentencePiecePiece::Kind kind) {
    return std::count_if(pieces.begin(), pieces.end(), [&](const auto& piece) { return piece.kind == kind; });
  };
  const auto unknown = count(SentencePiecePiece::Kind::unknown);
  if (unknown != 1) fail<FileError>(where, "there must be 1 piece for unknown characters; got {}", unknown);
  if (count(SentencePiecePiece::Kind::normal) == 0) {
    fail<FileError>(where, "there must be a normal piece; got {} of other types", pieces.size());
  }
}

}  // namespace

bool may_be_sentencepiece(std::string_view bytes) {
  // The first field is a piece, whose first field is its text, followed by a score or a type.
  constexpr char piece = '\x0a', text = '\x0a', score = '\x15', kind = '\x18';
  if (bytes.size() < 4 || bytes[0] != piece || bytes[2] != text) return false;
  const std::size_t end = std::size_t{4} + static_cast<unsigned char>(bytes[3]);
  return end < bytes.size() && (bytes[end] == score || bytes[end] == kind || bytes[end] == piece);
}

std::vector<SentencePiecePiece> check_sentencepiece(std::string_view bytes, const std::string& where) {
  constexpr std::uint32_t piece = 1, trainer = 2, normalizer = 3, denormalizer = 5;
  std::vector<SentencePiecePiece> pieces;
  ProtobufReader reader(bytes, where);
  for (ProtobufField field; reader.next(field);) {
    if (field.number < piece || field.number > denormalizer) continue;
    expect(field, Kind::bytes, "a part of the model", where);
    if (field.number == piece) {
      if (pieces.size() == TokenVocabulary::most_ids) {
        fail<FileError>(where, "there must be at most {} pieces; got more", TokenVocabulary::most_ids);
      }
      pieces.push_back(read_piece(field.bytes, pieces.size(), where));
    } else if (field.number == trainer) {
      check_trainer(field.bytes, where);
    } else if (field.number == normalizer || field.number == denormalizer) {
      check_normalizer(field.bytes, where);
    }
  }
  check_kinds(pieces, where);
  return pieces;
}

}  // namespace mezzo::detail
