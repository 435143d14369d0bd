// The text of a tokenizer_config.json, a zero byte, and a vocab.txt.
#include <mezzo/models/pretrained/folder_tokenizer.hpp>

#include <algorithm>

#include "fuzz.hpp"
#include "support/folder.hpp"

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  static const mezzo_tests::Folder folder;
  const auto end = std::find(bytes.begin(), bytes.end(), std::uint8_t{0});
  folder.write("tokenizer_config.json", {bytes.begin(), end});
  folder.write("vocab.txt", {end == bytes.end() ? end : end + 1, bytes.end()});
  const auto tokenizer = mezzo::detail::tokenizer_in(folder.path(), true);
  if (!tokenizer) return;
  mezzo::Tokenizer padded = *tokenizer;
  touch(padded.encode_batch({"A text, caf\xC3\xA9.", "x"}, {.max_length = 5, .padding = "max_length"}).input_ids);
  mezzo::Tokenizer::from_str(padded.to_str());
}

std::vector<Bytes> seeds() {
  const std::string vocabulary = std::string(1, '\0') + "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\ntext\n##s\n";
  return {bytes_of("{}" + vocabulary),
          bytes_of(R"({"do_lower_case": false, "strip_accents": true, "tokenize_chinese_chars": false})" + vocabulary),
          bytes_of(R"({"pad_token": "a", "padding_side": "left", "cls_token": {"content": "text"}})" + vocabulary),
          bytes_of(R"({"tokenizer_class": "BertTokenizer", "unk_token": "[PAD]", "sep_token": "a"})" + vocabulary)};
}

const Target target("tokenizer_folder", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
