#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <mezzo/data/text/tokenizer.hpp>

#include "support/recorded.hpp"

using namespace mezzo;
using Json = nlohmann::json;

namespace {

const Json& group(const std::string& kind) { return mezzo_tests::recorded("tokenizers/" + kind); }

Tokenizer tokenizer_of(const std::string& kind) { return Tokenizer::from_str(group(kind).at("tokenizer").dump()); }

std::string line_of(const Json& row) {
  if (row.contains("text")) return row.at("text").get<std::string>();
  const auto digits = row.at("hex").get<std::string>();
  std::string out;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    out += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return out;
}

struct Result {
  TokenizedText tokens;
  std::string decoded, all;
};

Result result_of(const Tokenizer& tokenizer, const std::string& line) {
  Result out{tokenizer.encode(line), "", ""};
  out.decoded = tokenizer.decode(out.tokens.ids);
  out.all = tokenizer.decode(out.tokens.ids, false);
  return out;
}

/// The 32-bit FNV-1a hash that tests/parity/tokenizer_json.py records.
std::string digest(const Result& result) {
  const TokenizedText& tokens = result.tokens;
  std::vector<std::string> offsets;
  for (const auto& [begin, end] : tokens.offsets) offsets.push_back(fmt::format("{}-{}", begin, end));
  const std::string text =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", fmt::join(tokens.ids, ","), fmt::join(offsets, ","),
                  fmt::join(tokens.tokens, " "), fmt::join(tokens.word_ids, ","), result.decoded, result.all);
  std::uint32_t value = 0x811C9DC5;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x01000193;
  return fmt::format("{:08x}", value);
}

using Offsets = std::vector<std::pair<std::int64_t, std::int64_t>>;

void check_shown(const Tokenizer& tokenizer, const Json& shown, const std::string& line) {
  const Result found = result_of(tokenizer, line);
  BOOST_TEST_CONTEXT("line " << shown.at("line") << ": " << line) {
    BOOST_TEST(found.tokens.ids == shown.at("ids").get<std::vector<std::int64_t>>(), boost::test_tools::per_element());
    BOOST_TEST((found.tokens.offsets == shown.at("offsets").get<Offsets>()));
    BOOST_TEST(found.tokens.tokens == shown.at("tokens").get<std::vector<std::string>>(),
               boost::test_tools::per_element());
    BOOST_TEST(found.tokens.word_ids == shown.at("words").get<std::vector<std::int64_t>>(),
               boost::test_tools::per_element());
    BOOST_TEST(found.decoded == shown.at("decoded").get<std::string>());
    BOOST_TEST(found.all == shown.at("all").get<std::string>());
  }
}

void check_lines(const std::string& kind) {
  const Json& lines = mezzo_tests::recorded("tokenizers/lines");
  const Json& recorded = group(kind);
  const Tokenizer tokenizer = tokenizer_of(kind);
  BOOST_TEST_REQUIRE(lines.size() == 2000U);
  for (const Json& shown : recorded.at("shown")) {
    check_shown(tokenizer, shown, line_of(lines.at(shown.at("line").get<std::size_t>())));
  }
  const auto hashes = recorded.at("hashes").get<std::string>();
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (digest(result_of(tokenizer, line_of(lines[i]))) != hashes.substr(8 * i, 8)) others.push_back(i);
  }
  BOOST_TEST(others.empty(), others.size()
                                 << " lines have other results: " << fmt::format("{}", fmt::join(others, " ")));
}

void check_text(const TokenizedText& found, const Json& expected) {
  using Ids = std::vector<std::int64_t>;
  BOOST_TEST(found.ids == expected.at("ids").get<Ids>(), boost::test_tools::per_element());
  BOOST_TEST(found.type_ids == expected.at("types").get<Ids>(), boost::test_tools::per_element());
  BOOST_TEST((found.offsets == expected.at("offsets").get<Offsets>()));
  BOOST_TEST(found.attention_mask == expected.at("mask").get<Ids>(), boost::test_tools::per_element());
  BOOST_TEST(found.special_tokens_mask == expected.at("special").get<Ids>(), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(found.overflowing.size() == expected.at("overflowing").size());
  for (std::size_t i = 0; i < found.overflowing.size(); ++i) {
    check_text(found.overflowing[i], expected.at("overflowing")[i]);
  }
}

void set_lengths(Tokenizer& tokenizer, const Json& one) {
  tokenizer.no_truncation();
  tokenizer.no_padding();
  if (const Json& cut = one.at("truncation"); !cut.is_null()) {
    tokenizer.enable_truncation({.max_length = cut.at("max_length").get<std::int64_t>(),
                                 .stride = cut.at("stride").get<std::int64_t>(),
                                 .strategy = cut.at("strategy").get<std::string>(),
                                 .direction = cut.at("direction").get<std::string>()});
  }
  if (const Json& padding = one.at("padding"); !padding.is_null()) {
    PaddingOptions options;
    options.direction = padding.value("direction", options.direction);
    options.pad_id = padding.value("pad_id", options.pad_id);
    options.pad_type_id = padding.value("pad_type_id", options.pad_type_id);
    options.pad_token = padding.value("pad_token", options.pad_token);
    if (padding.contains("length")) options.length = padding.at("length").get<std::int64_t>();
    if (padding.contains("pad_to_multiple_of")) {
      options.pad_to_multiple_of = padding.at("pad_to_multiple_of").get<std::int64_t>();
    }
    tokenizer.enable_padding(options);
  }
}

void check_lengths(const std::string& kind) {
  Tokenizer tokenizer = tokenizer_of(kind);
  const Json& cases = group(kind).at("cut");
  BOOST_TEST_REQUIRE(cases.size() > 300U);
  for (const Json& one : cases) {
    BOOST_TEST_CONTEXT(one.dump()) {
      set_lengths(tokenizer, one);
      EncodeTextOptions options;
      if (!one.at("pair").is_null()) options.text_pair = one.at("pair").get<std::string>();
      options.add_special_tokens = one.at("special").get<bool>();
      const auto text = one.at("text").get<std::string>();
      if (one.at("found").is_null()) {
        BOOST_CHECK_THROW(tokenizer.encode(text, options), ValueError);
      } else {
        check_text(tokenizer.encode(text, options), one.at("found"));
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tokenizer)

BOOST_AUTO_TEST_CASE(gpt2_equals_hugging_face) { check_lines("gpt2"); }
BOOST_AUTO_TEST_CASE(roberta_equals_hugging_face) { check_lines("roberta"); }
BOOST_AUTO_TEST_CASE(gpt4_equals_hugging_face) { check_lines("gpt4"); }
BOOST_AUTO_TEST_CASE(tiktoken_equals_hugging_face) { check_lines("tiktoken"); }
BOOST_AUTO_TEST_CASE(llama3_equals_hugging_face) { check_lines("llama3"); }
BOOST_AUTO_TEST_CASE(llama2_equals_hugging_face) { check_lines("llama2"); }
BOOST_AUTO_TEST_CASE(clip_equals_hugging_face) { check_lines("clip"); }
BOOST_AUTO_TEST_CASE(prefixed_bpe_equals_hugging_face) { check_lines("prefixed"); }
BOOST_AUTO_TEST_CASE(bert_equals_hugging_face) { check_lines("bert"); }
BOOST_AUTO_TEST_CASE(cased_bert_equals_hugging_face) { check_lines("bert_cased"); }
BOOST_AUTO_TEST_CASE(xlm_equals_hugging_face) { check_lines("xlm"); }
BOOST_AUTO_TEST_CASE(unigram_with_bytes_equals_hugging_face) { check_lines("unigram_bytes"); }
BOOST_AUTO_TEST_CASE(word_level_equals_hugging_face) { check_lines("words"); }
BOOST_AUTO_TEST_CASE(delimited_words_equal_hugging_face) { check_lines("delimited"); }
BOOST_AUTO_TEST_CASE(added_tokens_equal_hugging_face) { check_lines("added"); }

BOOST_AUTO_TEST_CASE(lengths_of_gpt2_equal_hugging_face) { check_lengths("gpt2"); }
BOOST_AUTO_TEST_CASE(lengths_of_bert_equal_hugging_face) { check_lengths("bert"); }
BOOST_AUTO_TEST_CASE(lengths_of_roberta_equal_hugging_face) { check_lengths("roberta"); }
BOOST_AUTO_TEST_CASE(lengths_of_llama3_equal_hugging_face) { check_lengths("llama3"); }

BOOST_AUTO_TEST_SUITE_END()
