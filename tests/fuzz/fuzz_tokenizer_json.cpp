// A tokenizer.json, and after a zero byte a text to encode with it.
#include <mezzo/data/text/tokenizer.hpp>

#include <algorithm>

#include "fuzz.hpp"
#include "support/recorded.hpp"

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  const auto end = std::find(bytes.begin(), bytes.end(), 0);
  const std::string text(end == bytes.end() ? end : end + 1, bytes.end());
  const mezzo::Tokenizer tokenizer = mezzo::Tokenizer::from_file(file_of({bytes.begin(), end}));
  const mezzo::TokenizedText tokens = tokenizer.encode(text);
  tokenizer.decode(tokens.ids, false);
  tokenizer.encode(text, {.text_pair = "a b"});
  tokenizer.encode_batch({text, "a b"}, {.max_length = 8});
}

std::vector<Bytes> seeds() {
  constexpr std::size_t most_tokens = 12;
  std::vector<Bytes> out;
  for (const char* kind : {"gpt2", "roberta", "gpt4", "tiktoken", "llama3", "llama2", "clip", "prefixed", "bert",
                           "unigram_bytes", "words", "delimited", "added"}) {
    nlohmann::json file = mezzo_tests::recorded(std::string("tokenizers/") + kind).at("tokenizer");
    nlohmann::json& model = file["model"];
    file["added_tokens"] = nlohmann::json::array();
    if (model.contains("merges")) model["merges"] = nlohmann::json::array();
    if (model["vocab"].is_array()) {
      model["vocab"].get_ref<nlohmann::json::array_t&>().resize(most_tokens);
    } else {
      nlohmann::json few;
      for (const auto& [token, id] : model["vocab"].items()) {
        if (id < most_tokens) few[token] = id;
      }
      few["a"] = most_tokens;
      model["vocab"] = few;
    }
    out.push_back(
        bytes_of(file.dump() + std::string(1, '\0') + "a <s>Yesterday's 12345  \xc3\xa9\xe4\xb8\xad. [MASK]\n"));
  }
  return out;
}

const Target target("tokenizer_json", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
