// A SentencePiece model, and a text to encode with it.
#include <mezzo/data/text/tokenizer.hpp>

#include "fuzz.hpp"

namespace {

using mezzo_fuzz::Bytes;

void add_field(Bytes& message, int number, const Bytes& content) {
  message.push_back(static_cast<std::uint8_t>(8 * number + 2));
  message.push_back(static_cast<std::uint8_t>(content.size()));  // below 128
  message.insert(message.end(), content.begin(), content.end());
}

void add_piece(Bytes& model, const std::string& text, std::uint8_t kind) {
  Bytes piece;
  add_field(piece, 1, mezzo_fuzz::bytes_of(text));
  piece.insert(piece.end(), {0x15, 0, 0, static_cast<std::uint8_t>(text.size()), 0xc0, 0x18, kind});  // a score
  add_field(model, 1, piece);
}

// A model of that type: 1 unigram, 2 BPE, 3 words, 4 characters.
Bytes small_model(std::uint8_t type) {
  constexpr std::uint8_t normal = 1, unknown = 2, control = 3, user_defined = 4;
  Bytes model;
  add_piece(model, "<unk>", unknown);
  add_piece(model, "<s>", control);
  add_piece(model, "</s>", control);
  add_piece(model, "<sep>", user_defined);
  for (const char* text : {"\xe2\x96\x81", "a", "b",
                           "\xe2\x96\x81"
                           "a",
                           "ab",
                           "\xe2\x96\x81"
                           "ab"})
    add_piece(model, text, normal);
  add_field(model, 2, {0x18, type});        // TrainerSpec
  add_field(model, 3, {0x18, 1, 0x20, 1});  // NormalizerSpec
  return model;
}

}  // namespace

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  const mezzo::Tokenizer tokenizer = mezzo::Tokenizer::from_sentencepiece(file_of(bytes), {.add_bos = true});
  for (const char* text : {"a ab<sep> \xc3\xa9\xe4\xb8\xad  ba\n", "\xef\xbc\xa1\xef\xac\x81 abab", "<s>"}) {
    tokenizer.decode(tokenizer.encode(text).ids, false);
  }
}

std::vector<Bytes> seeds() { return {small_model(1), small_model(2), small_model(3), small_model(4)}; }

const Target target("sentencepiece", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
