// A vocabulary, and after a zero byte a text to encode with it. The text is a corpus of characters, too.
#include <mezzo/data/text/char_tokenizer.hpp>
#include <mezzo/data/text/word_piece_tokenizer.hpp>

#include <algorithm>
#include <stdexcept>

#include "fuzz.hpp"

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  const auto end = std::find(bytes.begin(), bytes.end(), 0);
  const std::string text(end == bytes.end() ? end : end + 1, bytes.end());
  const mezzo::WordPieceTokenizer tokenizer(file_of({bytes.begin(), end}), {.lowercase = text.size() % 2 == 0});
  tokenizer.decode(tokenizer.encode(text));
  tokenizer.encode_batch({text, "a b"}, {.text_pairs = {"c", text}, .max_length = 8});
  const mezzo::CharTokenizer characters(text);
  if (characters.decode(characters.encode(text)) != text) throw std::logic_error("characters don't come back");
}

std::vector<Bytes> seeds() {
  const std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\r\n[SEP]\n[MASK]\na\n##b\nun\n##aff\n\xc3\xa9\n.\n";
  return {bytes_of(vocabulary), bytes_of(vocabulary + std::string(1, '\0') + "Unaffab [MASK] \xc3\xa9t\xe4\xb8\xad.")};
}

const Target target("vocabulary", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
