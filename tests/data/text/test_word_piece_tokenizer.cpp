#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>

#include <mezzo/data/text/word_piece_tokenizer.hpp>

#include "support/folder.hpp"
#include "support/recorded.hpp"
#include "support/skip.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;
using mezzo_tests::recorded;
using Ids = WordPieceTokenizer::Ids;
using Json = nlohmann::json;

namespace {

std::string small_vocab() { return (mezzo_tests::tests_dir() / "parity/recorded/word_piece_vocab.txt").string(); }

const WordPieceTokenizer& small() {
  static const WordPieceTokenizer tokenizer(small_vocab());
  return tokenizer;
}

void check_texts(const WordPieceTokenizer& tokenizer, const std::string& group) {
  const Json& cases = recorded("tokenizer").at(group).at("texts");
  BOOST_TEST_REQUIRE(cases.size() >= 60U);
  for (const Json& one : cases) {
    BOOST_TEST_CONTEXT(one.dump()) {
      BOOST_TEST(tokenizer.encode(one.at("text").get<std::string>()) == one.at("ids").get<Ids>(),
                 boost::test_tools::per_element());
    }
  }
}

void check_tensor(const Tensor& tensor, const Json& rows) {
  const auto expected = rows.get<std::vector<std::vector<double>>>();
  BOOST_TEST((tensor.dtype() == DType::int64));
  BOOST_TEST_REQUIRE(tensor.shape() == (Shape{static_cast<std::int64_t>(expected.size()),
                                              static_cast<std::int64_t>(expected[0].size())}),
                     boost::test_tools::per_element());
  std::vector<double> flat;
  for (const auto& row : expected) flat.insert(flat.end(), row.begin(), row.end());
  BOOST_TEST(tensor.to_doubles() == flat, boost::test_tools::per_element());
}

std::vector<std::uint8_t> bytes(const std::string& text) { return {text.begin(), text.end()}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(word_piece_tokenizer)

BOOST_AUTO_TEST_CASE(texts_become_the_ids_of_hugging_face) { check_texts(small(), "small"); }

BOOST_AUTO_TEST_CASE(cased_texts_become_the_ids_of_hugging_face) {
  check_texts(WordPieceTokenizer(small_vocab(), {.lowercase = false}), "cased");
}

BOOST_AUTO_TEST_CASE(the_real_vocabulary_gives_the_ids_of_hugging_face) {
  const char* model = std::getenv("MEZZO_MINILM");
  if (model == nullptr)
    return mezzo_tests::skip("MEZZO_MINILM must be a folder with all-MiniLM-L6-v2's vocab.txt; it is not set");
  const WordPieceTokenizer tokenizer((std::filesystem::path(model) / "vocab.txt").string());
  BOOST_TEST(tokenizer.vocab_size() == 30522);
  check_texts(tokenizer, "real");
}

BOOST_AUTO_TEST_CASE(ids_become_the_texts_of_hugging_face) {
  for (const Json& one : recorded("tokenizer").at("small").at("texts")) {
    const auto ids = one.at("ids").get<Ids>();
    BOOST_TEST(small().decode(ids) == one.at("decoded").get<std::string>());
    BOOST_TEST(small().decode(ids, false) == one.at("decoded_with_special").get<std::string>());
  }
}

BOOST_AUTO_TEST_CASE(pairs_become_the_ids_of_hugging_face) {
  for (const Json& one : recorded("tokenizer").at("small").at("pairs")) {
    const Ids ids = small().encode(one.at("text").get<std::string>(), one.at("pair").get<std::string>());
    BOOST_TEST(ids == one.at("ids").get<Ids>(), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(batches_are_cut_and_padded_as_by_hugging_face) {
  const Json& group = recorded("tokenizer").at("small");
  std::vector<std::string> first;
  std::vector<std::string> second;
  for (const Json& one : group.at("pairs")) {
    first.push_back(one.at("text").get<std::string>());
    second.push_back(one.at("pair").get<std::string>());
  }
  for (const Json& one : group.at("batches")) {
    EncodeOptions options{.max_length = one.at("max_length").get<std::int64_t>(),
                          .padding = one.at("padding").get<std::string>()};
    if (one.at("pairs").get<bool>()) options.text_pairs = second;
    const Encoding encoding = small().encode_batch(first, options);
    BOOST_TEST_CONTEXT(options.max_length << " " << options.padding << " " << one.at("pairs")) {
      check_tensor(encoding.input_ids, one.at("input_ids"));
      check_tensor(encoding.attention_mask, one.at("attention_mask"));
      check_tensor(encoding.token_type_ids, one.at("token_type_ids"));
    }
  }
}

BOOST_AUTO_TEST_CASE(special_tokens_can_be_left_out) {
  const Encoding found = small().encode_batch({"hello"}, {.max_length = 1, .add_special_tokens = false});
  BOOST_TEST(found.input_ids.to_doubles() == (std::vector<double>{double(small().token_to_id("hello"))}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(no_texts_are_no_rows) {
  BOOST_TEST(small().encode_batch({}).input_ids.describe() == "int64 (0, 0)");
  BOOST_TEST(small().encode_batch({}, {.max_length = 4, .padding = "max_length"}).input_ids.describe() ==
             "int64 (0, 4)");
}

BOOST_AUTO_TEST_CASE(bytes_that_are_not_utf8_are_dropped) {
  const Ids expected = small().encode("caf\xC3\xA9 ok");
  for (const char* bad : {"\x80", "\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\xFF\xFE"}) {
    const std::string text = "ca" + std::string(bad) + "f\xC3\xA9 o" + bad + "k" + bad;
    BOOST_TEST(small().encode(text) == expected, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(tokens_and_ids_are_looked_up) {
  const Ids ids = small().encode("Hello");
  BOOST_TEST_REQUIRE(ids.size() == 3U);
  BOOST_TEST(small().id_to_token(ids[0]) == "[CLS]");
  BOOST_TEST(small().token_to_id("hello") == ids[1]);
  const std::string size = std::to_string(small().vocab_size());
  check_throws<NameError>("[WordPieceTokenizer] unknown token \"Hello\"; the vocabulary has " + size + " others",
                          [] { small().token_to_id("Hello"); });
  check_throws<ValueError>("[WordPieceTokenizer] ids must have a token; got " + size + " for " + size + " tokens",
                           [] { small().decode({small().vocab_size()}); });
  check_throws<ValueError>("[WordPieceTokenizer] ids must have a token; got -1 for " + size + " tokens",
                           [] { small().id_to_token(-1); });
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused) {
  const auto refuse = [](const EncodeOptions& options, const std::string& text) {
    check_throws<ValueError>("[WordPieceTokenizer] " + text, [&] { small().encode_batch({"a", "b"}, options); });
  };
  refuse({.text_pairs = {"a"}}, "text_pairs must have one text for each of the 2 texts, or none; got 1");
  refuse({.max_length = 1}, "max_length must be 0 or at least 2, the number of special tokens; got 1");
  refuse({.text_pairs = {"a", "b"}, .max_length = 2},
         "max_length must be 0 or at least 3, the number of special tokens; got 2");
  refuse({.max_length = -1}, "max_length must be 0 or at least 2, the number of special tokens; got -1");
  refuse({.padding = "left"}, "unknown padding \"left\"; valid names: longest, max_length");
  refuse({.padding = "max_length"}, "padding \"max_length\" needs a max_length above 0; got 0");
}

BOOST_AUTO_TEST_CASE(bad_vocabularies_are_refused) {
  const mezzo_tests::Folder folder;
  const auto refuse = [&](const std::string& content, const std::string& text) {
    const std::string path = folder.write("vocab.txt", bytes(content));
    check_throws<FileError>("[WordPieceTokenizer] \"" + path + "\": " + text, [&] { WordPieceTokenizer{path}; });
  };
  refuse("", "must have the token [PAD]; got 0 tokens without it");
  refuse("[PAD]\n[UNK]\n[CLS]\na\n", "must have the token [SEP]; got 4 tokens without it");
  refuse("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\na\n", "every line must hold another token; got \"a\" in lines 5 and 7");
  const std::string missing = folder.path("none.txt");
  check_throws<FileError>("[read_file] \"" + missing + "\": no such file or directory",
                          [&] { WordPieceTokenizer{missing}; });
}

BOOST_AUTO_TEST_CASE(lines_may_end_as_on_windows_and_the_last_without_an_end) {
  const mezzo_tests::Folder folder;
  const std::string path = folder.write("vocab.txt", bytes("[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\na\r\n##b"));
  const WordPieceTokenizer tokenizer(path);
  BOOST_TEST(tokenizer.encode("AB ac [MASK]") == (Ids{2, 4, 5, 1, 1, 1, 1, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
