#include <boost/test/unit_test.hpp>

#include <thread>

#include <mezzo/data/text/text_dataset.hpp>
#include <mezzo/data/text/tokenizer.hpp>

#include "support/folder.hpp"
#include "support/recorded.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;
using Json = nlohmann::json;
using Ids = Tokenizer::Ids;

namespace {

/// A tokenizer of words.
Json small_file() {
  return Json::parse(R"({
    "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
    "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null,
    "decoder": null,
    "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "[PAD]": 1, "hello": 2, "world": 3}}})");
}

Tokenizer small_tokenizer(const Json& changes = Json::object()) {
  Json file = small_file();
  file.merge_patch(changes);
  return Tokenizer::from_str(file.dump());
}

void refuse_file(const std::string& changes, const std::string& text) {
  check_throws<FileError>("[Tokenizer] " + text, [&] { small_tokenizer(Json::parse(changes)); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tokenizer_file)

BOOST_AUTO_TEST_CASE(files_are_read) {
  const mezzo_tests::Folder folder;
  const std::string text = small_file().dump();
  const std::string path = folder.write("tokenizer.json", {text.begin(), text.end()});
  const Tokenizer tokenizer = Tokenizer::from_file(path);
  const TokenizedText found = tokenizer.encode("Hello w\xC3\xB6rld");
  BOOST_TEST(found.ids == (Ids{2, 0}), boost::test_tools::per_element());
  BOOST_TEST((found.offsets[1] == std::pair<std::int64_t, std::int64_t>{6, 11}));  // in characters
  BOOST_TEST(tokenizer.decode({2, 3}) == "hello world");
  BOOST_TEST(tokenizer.vocab_size() == 4);
  BOOST_TEST(tokenizer.token_to_id("world") == 3);
  BOOST_TEST(tokenizer.id_to_token(2) == "hello");
}

BOOST_AUTO_TEST_CASE(files_that_are_no_tokenizers_are_refused) {
  const mezzo_tests::Folder folder;
  const std::string missing = folder.path("none.json");
  check_throws<FileError>("[read_file] \"" + missing + "\": no such file or directory",
                          [&] { Tokenizer::from_file(missing); });
  const std::string path = folder.write("tokenizer.json", {'[', ']'});
  check_throws<FileError>("[Tokenizer] \"" + path + "\": the file must be an object; got an array of 0",
                          [&] { Tokenizer::from_file(path); });
  BOOST_CHECK_THROW(Tokenizer::from_str("{"), FileError);
  BOOST_CHECK_THROW(Tokenizer::from_str(std::string(1000, '[')), FileError);
  refuse_file(R"({"version": "2.0"})", "unknown version \"2.0\"; valid names: 1.0");
  refuse_file(R"({"model": null})", "model must be given; got none");
}

BOOST_AUTO_TEST_CASE(unknown_parts_are_named) {
  refuse_file(R"({"normaliser": {}})",
              "unknown member \"normaliser\"; known members: added_tokens, decoder, model, normalizer, padding, "
              "post_processor, pre_tokenizer, truncation, version");
  refuse_file(R"({"normalizer": {"type": "Upper"}})",
              "normalizer.type: unknown normalizer \"Upper\"; known types: BertNormalizer, ByteLevel, Lowercase, NFC, "
              "NFD, NFKC, NFKD, Nmt, Precompiled, Prepend, Replace, Sequence, Strip, StripAccents");
  refuse_file(R"({"normalizer": {"type": "Sequence", "normalizers": [{"type": "Strip", "strip_left": 1}]}})",
              "normalizer.normalizers[0].strip_left must be true or false; got 1");
  refuse_file(R"({"pre_tokenizer": {"type": "Whitespace", "fast": true}})",
              "unknown member \"pre_tokenizer.fast\"; known members: type");
  refuse_file(R"({"decoder": {"type": "Strip", "content": "ab", "start": 1, "stop": 0}})",
              "decoder.content must be one character; got \"ab\"");
  refuse_file(R"({"model": {"vocab": {"hello": -2}}})",
              "model.vocab: the id of \"hello\" must be an integer; got number");
  refuse_file(R"({"model": {"vocab": {"hello": 3}}})", "the id 3 must have one token; got \"hello\" and \"world\"");
  refuse_file(R"({"model": {"type": "BPE", "unk_token": null, "merges": [], "dropout": 0.1}})",
              "model.dropout must be 0 or null, since random tokens are not supported; got 0.1");
  refuse_file(R"({"model": {"type": "BPE", "unk_token": null, "merges": [["hello", "x"]]}})",
              "the merge \"hello x\" needs the token \"x\"");
  refuse_file(R"({"added_tokens": [{"id": 7, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false,
                                    "normalized": false, "special": true}]})",
              "added_tokens[0].id of \"<s>\" must be 4, its id in the vocabulary or the next free one; got 7");
}

BOOST_AUTO_TEST_CASE(regular_expressions_that_pcre2_lacks_are_refused) {
  const auto refuse = [](const std::string& expression, const std::string& reason) {
    const Json split = {
        {"type", "Split"}, {"pattern", {{"Regex", expression}}}, {"behavior", "Isolated"}, {"invert", false}};
    check_throws<FileError>(
        "[Tokenizer] pre_tokenizer.pattern.Regex: invalid regular expression \"" + expression + "\": " + reason, [&] {
          small_tokenizer({{"pre_tokenizer", split}});
        });
  };
  refuse("[a-z&&[^b]]", "the intersection && of classes is not supported");
  refuse("[a[b]]", "a class in a class is not supported; the character is \\[");
  refuse("(*ACCEPT)a", "verbs (*...) are not supported");
  refuse("[a", "a class must end with ]");
  refuse("(a", "missing closing parenthesis");
}

BOOST_AUTO_TEST_CASE(batches_are_tensors_of_one_length) {
  Tokenizer tokenizer = small_tokenizer();
  check_throws<ValueError>("[Tokenizer] rows of 1 and 2 tokens need padding; enable_padding() sets its id", [&] {
    tokenizer.encode_batch({"hello", "hello world"});
  });
  tokenizer.enable_padding({.direction = "left", .pad_id = 1, .pad_to_multiple_of = 4});
  const Encoding batch = tokenizer.encode_batch({"hello", "hello world x y z"}, {.max_length = 3});
  BOOST_TEST(batch.input_ids.describe() == "int64 (2, 4)");
  BOOST_TEST(batch.input_ids.to_doubles() == (std::vector<double>{1, 1, 1, 2, 1, 2, 3, 0}),
             boost::test_tools::per_element());
  BOOST_TEST(batch.attention_mask.to_doubles() == (std::vector<double>{0, 0, 0, 1, 0, 1, 1, 1}),
             boost::test_tools::per_element());
  check_throws<ValueError>("[Tokenizer.enable_padding] unknown direction \"up\"; valid names: right, left",
                           [&] { tokenizer.enable_padding({.direction = "up"}); });
  check_throws<ValueError>(
      "[Tokenizer.enable_truncation] unknown strategy \"all\"; valid names: longest_first, "
      "only_first, only_second",
      [&] { tokenizer.enable_truncation({.strategy = "all"}); });
}

BOOST_AUTO_TEST_CASE(lengths_of_the_file_are_used) {
  const Tokenizer tokenizer = small_tokenizer(Json::parse(R"({
    "truncation": {"direction": "Left", "max_length": 3, "strategy": "LongestFirst", "stride": 1},
    "padding": {"strategy": {"Fixed": 4}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 1,
                "pad_type_id": 0, "pad_token": "[PAD]"}})"));
  const TokenizedText found = tokenizer.encode("hello hello world world");
  BOOST_TEST(found.ids == (Ids{2, 3, 3, 1}), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(found.overflowing.size() == 1U);
  BOOST_TEST(found.overflowing[0].ids == (Ids{2, 2, 1, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(ids_without_a_token_are_refused) {
  check_throws<ValueError>("[Tokenizer] ids must have a token; got 4 for 4 tokens", [] {
    small_tokenizer().decode({2, 4});
  });
  check_throws<ValueError>("[Tokenizer] ids must have a token; got -1 for 4 tokens",
                           [] { small_tokenizer().id_to_token(-1); });
  check_throws<NameError>("[Tokenizer] unknown token \"no\"; the vocabulary has 4 others",
                          [] { small_tokenizer().token_to_id("no"); });
  const Json changes = {{"model", {{"unk_token", "?"}}}};
  check_throws<ValueError>("[Tokenizer] the vocabulary must have the unknown token \"?\"",
                           [&] { small_tokenizer(changes).encode("hello you"); });
}

BOOST_AUTO_TEST_CASE(replacements_may_not_multiply_a_text) {
  const Json replace = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(1000, 'a')}};
  const Json changes = {{"normalizer", {{"type", "Sequence"}, {"normalizers", {replace, replace, replace}}}}};
  check_throws<ValueError>("[Tokenizer] a normalized text must have at most 4160 bytes; got 5000",
                           [&] { small_tokenizer(changes).encode("a"); });
}

BOOST_AUTO_TEST_CASE(threads_encode_with_one_tokenizer) {
  const Tokenizer tokenizer = Tokenizer::from_str(mezzo_tests::recorded("tokenizers/gpt4").at("tokenizer").dump());
  const std::string text = "In the beginning, 1234 times: don't   stop\n\n";
  const Ids expected = tokenizer.encode(text).ids;
  std::vector<int> equal(4, 0);
  std::vector<std::thread> threads;
  for (int& one : equal) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) one += tokenizer.encode(text).ids == expected ? 1 : 0;
    });
  }
  for (std::thread& one : threads) one.join();
  BOOST_TEST(equal == (std::vector<int>{50, 50, 50, 50}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
