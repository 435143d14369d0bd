#include <boost/test/unit_test.hpp>

#include <filesystem>

#include <fmt/format.h>

#include <mezzo/data/text/tokenizer.hpp>

#include "support/base64.hpp"
#include "support/folder.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using boost::test_tools::per_element;
using mezzo_tests::check_throws;
using mezzo_tests::Folder;
using mezzo_tests::refused;
using Json = nlohmann::json;
using Ids = Tokenizer::Ids;

namespace {

const Json& piece_models() { return mezzo_tests::recorded("sentencepiece_models"); }

std::vector<std::uint8_t> model_of(const char* kind) {
  return mezzo_tests::decoded_base64(piece_models().at(kind).at("model").get<std::string>());
}

std::string piece_line(const Json& row) {
  if (row.contains("text")) return row.at("text").get<std::string>();
  std::string out;
  const auto digits = row.at("hex").get<std::string>();
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    out += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return out;
}

/// The 32-bit FNV-1a hash that tests/parity/sentencepiece_models.py records.
std::string piece_digest(const TokenizedText& tokens, const std::string& decoded) {
  std::vector<std::string> offsets;
  for (const auto& [begin, end] : tokens.offsets) offsets.push_back(fmt::format("{}-{}", begin, end));
  std::uint32_t value = 0x811C9DC5;
  for (const char c : fmt::format("{}\n{}\n{}", fmt::join(tokens.ids, ","), fmt::join(offsets, ","), decoded)) {
    value = (value ^ static_cast<unsigned char>(c)) * 0x01000193;
  }
  return fmt::format("{:08x}", value);
}

void check_kind_of_model(const char* kind) {
  const Folder folder;
  const Json& recorded = piece_models().at(kind);
  const Json& lines = mezzo_tests::recorded("tokenizers/lines");
  const Tokenizer tokenizer = Tokenizer::from_file(folder.write("tokenizer.model", model_of(kind)));
  BOOST_TEST(tokenizer.vocab_size() == recorded.at("size").get<std::int64_t>());
  for (const auto& [number, shown] : recorded.at("shown").items()) {
    const TokenizedText found = tokenizer.encode(piece_line(lines.at(std::stoul(number))));
    BOOST_TEST_CONTEXT("line " << number) {
      BOOST_TEST(found.ids == shown.at("ids").get<Ids>(), per_element());
      BOOST_TEST((found.offsets == shown.at("offsets").get<std::vector<std::pair<std::int64_t, std::int64_t>>>()));
      BOOST_TEST(tokenizer.decode(found.ids) == shown.at("decoded").get<std::string>());
    }
  }
  const auto hashes = recorded.at("hashes").get<std::string>();
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const TokenizedText tokens = tokenizer.encode(piece_line(lines[i]));
    if (piece_digest(tokens, tokenizer.decode(tokens.ids)) != hashes.substr(8 * i, 8)) others.push_back(i);
  }
  BOOST_TEST(others.empty(), others.size() << " lines differ: " << fmt::format("{}", fmt::join(others, " ")));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sentencepiece)

BOOST_AUTO_TEST_CASE(bpe_equals_the_library) { check_kind_of_model("bpe"); }
BOOST_AUTO_TEST_CASE(unigram_equals_the_library) { check_kind_of_model("unigram"); }
BOOST_AUTO_TEST_CASE(characters_equal_the_library) { check_kind_of_model("char"); }
BOOST_AUTO_TEST_CASE(words_equal_the_library) { check_kind_of_model("word"); }

BOOST_AUTO_TEST_CASE(options_of_tokenizers_work) {
  const Folder folder;
  const std::string path = folder.write("spiece.model", model_of("unigram"));
  Tokenizer tokenizer = Tokenizer::from_sentencepiece(path, {.add_bos = true, .add_eos = true});
  const TokenizedText framed = tokenizer.encode("In the beginning");
  BOOST_TEST(framed.ids == piece_models().at("unigram").at("framed").get<Ids>(), per_element());
  BOOST_TEST((framed.tokens.front() == "<s>" && framed.tokens.back() == "</s>"));
  BOOST_TEST((framed.special_tokens_mask.front() == 1 && framed.special_tokens_mask[1] == 0));
  BOOST_TEST(framed.word_ids.front() == -1);
  BOOST_TEST(framed.word_ids[1] == 0);
  BOOST_TEST(framed.word_ids[framed.word_ids.size() - 2] == 2);
  BOOST_TEST(tokenizer.decode(framed.ids) == "In the beginning");
  BOOST_TEST(tokenizer.decode(framed.ids, false) == "<s>In the beginning</s>");
  const TokenizedText plain = tokenizer.encode("In the beginning", {.add_special_tokens = false});
  BOOST_TEST(plain.ids.size() + 2 == framed.ids.size());
  const TokenizedText masked = tokenizer.encode("a [MASK]");
  BOOST_TEST(masked.tokens[masked.tokens.size() - 2] == "[MASK]");
  const TokenizedText unknown = tokenizer.encode("\xE2\x9C\x88", {.add_special_tokens = false});
  BOOST_TEST(unknown.tokens.back() == "\xE2\x9C\x88");
  BOOST_TEST(unknown.ids.back() == tokenizer.token_to_id("<unk>"));
  tokenizer.enable_truncation({.max_length = 5});
  tokenizer.enable_padding({.pad_id = 2, .pad_token = "</s>"});
  const Encoding batch = tokenizer.encode_batch({"the", "In the beginning God created"});
  BOOST_TEST(batch.input_ids.describe() == "int64 (2, 5)");
  BOOST_TEST(batch.attention_mask.to_doubles()[4] == 0);
}

BOOST_AUTO_TEST_CASE(files_that_are_no_models_are_refused) {
  const Folder folder;
  const auto text = [&](const std::vector<std::uint8_t>& bytes) {
    const std::string path = folder.write("a.model", bytes);
    const std::string error = refused<FileError>([&] { Tokenizer::from_sentencepiece(path); });
    const std::string where = "[Tokenizer] \"" + path + "\": ";
    BOOST_TEST(error.substr(0, where.size()) == where);
    return error.substr(std::min(where.size(), error.size()));
  };
  BOOST_TEST(text({}) == "must be a SentencePiece model (tokenizer.model); it is an empty file: get the file again");
  BOOST_TEST(text({0x12, 0}) == "there must be 1 piece for unknown characters; got 0");
  BOOST_TEST(text({'{', '\1'}) == "must be a protobuf message; it is damaged or cut off");
  const std::vector<std::uint8_t> model = model_of("bpe");
  for (const std::size_t size : {model.size() - 1, model.size() / 2, std::size_t{3}}) {
    BOOST_TEST(text({model.begin(), model.begin() + static_cast<std::ptrdiff_t>(size)}) ==
               "must be a protobuf message; it is damaged or cut off");
  }
  std::vector<std::uint8_t> twice = model;
  twice.insert(twice.end(), model.begin(), model.begin() + 2 + model[1]);
  BOOST_TEST(text(twice) == "there must be 1 piece for unknown characters; got 2");
  const std::vector<std::uint8_t> a{0x0a, 0x08, 0x0a, 0x01, 'a', 0x15, 0, 0, 0x80, 0x3f};
  const std::vector<std::uint8_t> unknown{0x0a, 0x05, 0x0a, 0x01, '?', 0x18, 0x02};
  const auto of_pieces = [&](std::vector<std::uint8_t> piece) {
    piece.insert(piece.end(), unknown.begin(), unknown.end());
    return piece;
  };
  std::vector<std::uint8_t> bad = a;
  bad[9] = 0xff;
  BOOST_TEST(text(of_pieces(bad)) == "the score of piece 0 must be finite; got -inf");
  bad = a;
  bad[4] = 0xff;
  BOOST_TEST(text(of_pieces(bad)) == "piece 0 must be a text of 1 to 4096 bytes of UTF-8; got 1 bytes");
  BOOST_TEST(text(unknown) == "there must be a normal piece; got 1 of other types");
  bad = of_pieces(a);
  bad.insert(bad.end(), {0x1a, 0x0b, 0x12, 0x09, 4, 0, 0, 0, 0, 0xff, 0, 0, 0});  // a trie of one unit
  BOOST_TEST(text(bad) == "precompiled_charsmap must hold a trie and its texts; it is damaged");
}

// The trie of a real model, with each unit changed in turn, is refused or followed safely.
BOOST_AUTO_TEST_CASE(damaged_maps_of_characters) {
  const Folder folder;
  const std::vector<std::uint8_t> model = model_of("unigram");
  int refusals = 0;
  for (std::size_t i = model.size() - 200'000; i < model.size(); i += 4999) {
    std::vector<std::uint8_t> damaged = model;
    damaged[i] ^= 0xd5;
    try {
      Tokenizer::from_file(folder.write("a.model", damaged)).encode("\xEF\xBC\xA1\xEF\xAC\x81\xE2\x91\xA0 text");
    } catch (const Error&) {
      ++refusals;
    }
  }
  BOOST_TEST(refusals > 0);
}

BOOST_AUTO_TEST_CASE(a_model_is_not_written_as_json) {
  const Folder folder;
  const Tokenizer tokenizer = Tokenizer::from_file(folder.write("a.model", model_of("bpe")));
  const std::string expected =
      "[Tokenizer] must be of a tokenizer.json to be written as one; this one is of a SentencePiece model: copy its "
      "file";
  BOOST_TEST(refused<ValueError>([&] { tokenizer.to_str(); }) == expected);
  BOOST_TEST(refused<ValueError>([&] { tokenizer.save(folder.path("a.json")); }) == expected);
  BOOST_TEST(!std::filesystem::exists(folder.path("a.json")));
}

BOOST_AUTO_TEST_CASE(the_content_of_a_file_tells_its_kind) {
  const Folder folder;
  const std::string json = "\n{\n \"model\": {\"type\": \"WordLevel\", \"unk_token\": \"u\", \"vocab\": {\"u\": 0}}}";
  const std::string path = folder.write("a.model", {json.begin(), json.end()});
  BOOST_TEST(Tokenizer::from_file(path).vocab_size() == 1);
  const std::string other = folder.write("b.model", {'G', 'G', 'U', 'F', 3, 0, 0, 0});
  const std::string error = refused<FileError>([&] { Tokenizer::from_file(other); });
  BOOST_TEST(error.find("must be a tokenizer.json or a SentencePiece model; it is a GGUF file") != error.npos, error);
  const auto text = [](const std::string& model) {
    return refused<FileError>([&] { Tokenizer::from_sentencepiece(model); });
  };
  const auto must = [](const std::string& model) {
    return "[Tokenizer] \"" + model + "\": must be a SentencePiece model (tokenizer.model); ";
  };
  BOOST_TEST(text(path) == must(path) +
                               "it is a JSON text: Tokenizer::from_file() reads a tokenizer.json, auto_model() the "
                               "folder of a config.json");
  const std::string named = folder.write("tokenizer.json", {json.begin(), json.end()});
  BOOST_TEST(text(named) == must(named) + "its suffix is that of a tokenizer (JSON): Tokenizer::from_file() reads it");
  BOOST_TEST(text(other).rfind(must(other) + "it is a GGUF file of llama.cpp: ", 0) == 0U);
  Tokenizer::from_sentencepiece(folder.write("a.bin", model_of("bpe")));  // any suffix
}

BOOST_AUTO_TEST_SUITE_END()
