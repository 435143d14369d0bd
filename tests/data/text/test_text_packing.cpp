#include <boost/test/unit_test.hpp>

#include <mezzo/data/loader.hpp>
#include <mezzo/data/text/char_tokenizer.hpp>
#include <mezzo/data/text/text_dataset.hpp>
#include <mezzo/data/text/tokenizer.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using boost::test_tools::per_element;
using mezzo_tests::check_throws;
using Numbers = std::vector<double>;

namespace {

// A token for each letter: a is 1, b is 2, ...
std::vector<std::int64_t> letter_ids(const std::string& text) {
  std::vector<std::int64_t> ids;
  for (const char c : text) ids.push_back(c - 'a' + 1);
  return ids;
}

HostBatch all_rows(const Dataset& data) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < data.size(); ++i) indices.push_back(i);
  return data.gather(indices);
}

void check_rows_are(const Dataset& data, const std::map<std::string, Numbers>& expected) {
  const HostBatch batch = all_rows(data);
  for (const auto& [name, numbers] : expected) {
    BOOST_TEST_CONTEXT(name) { BOOST_TEST(batch[name].to_doubles() == numbers, per_element()); }
  }
}

const TextDataset letters(Strings{"abc", "", "de", "fghijk"});

}  // namespace

BOOST_AUTO_TEST_SUITE(text_packing)

BOOST_AUTO_TEST_CASE(wrapped_texts_go_on_in_the_next_row) {
  const Dataset data = letters.pack(letter_ids, {.length = 4, .pad_id = 99});
  BOOST_TEST(data.size() == 3);
  BOOST_TEST(data.fields()[0].shape == Shape{4}, per_element());
  BOOST_TEST((data.fields()[2].role == Role::input && data.fields()[3].role == Role::target));
  check_rows_are(data, {{"input_ids", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 99}},
                        {"position_ids", {0, 1, 2, 0, 0, 0, 1, 2, 0, 1, 2, 0}},
                        {"segment_ids", {1, 1, 1, 2, 1, 2, 2, 2, 1, 1, 1, 0}},
                        {"labels", {2, 3, -100, 5, -100, 7, 8, 9, 10, 11, -100, -100}}});
}

BOOST_AUTO_TEST_CASE(an_end_follows_each_text) {
  const Dataset data = letters.pack(letter_ids, {.length = 4, .end_id = 50, .ignore_id = -1});
  check_rows_are(data, {{"input_ids", {1, 2, 3, 50, 50, 4, 5, 50, 6, 7, 8, 9, 10, 11, 50, 0}},
                        {"segment_ids", {1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 0}},
                        {"labels", {2, 3, 50, -1, -1, 5, 50, -1, 7, 8, 9, 10, 11, 50, -1, -1}}});
}

BOOST_AUTO_TEST_CASE(best_fit_keeps_texts_whole) {
  const TextDataset texts(Strings{"ab", "cdefgh", "ijk", "l", "mnop"});
  const Dataset data = texts.pack(letter_ids, {.length = 4, .strategy = "best_fit"});
  check_rows_are(data, {{"input_ids", {3, 4, 5, 6, 13, 14, 15, 16, 9, 10, 11, 12, 1, 2, 7, 8}},
                        {"position_ids", {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 0, 0, 1, 0, 1}},
                        {"segment_ids", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 2, 2}},
                        {"labels", {4, 5, 6, 7, 14, 15, 16, -100, 10, 11, -100, -100, 2, -100, 8, -100}}});
}

BOOST_AUTO_TEST_CASE(padded_rows_have_one_text) {
  const Dataset data = letters.pack(letter_ids, {.length = 4, .strategy = "padded"});
  check_rows_are(data, {{"input_ids", {1, 2, 3, 0, 4, 5, 0, 0, 6, 7, 8, 9, 10, 11, 0, 0}},
                        {"segment_ids", {1, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0}},
                        {"labels", {2, 3, -100, -100, 5, -100, -100, -100, 7, 8, 9, 10, 11, -100, -100, -100}}});
}

BOOST_AUTO_TEST_CASE(loaders_encode_in_their_threads) {
  const std::string json = R"({"normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "padding":
      {"strategy": {"Fixed": 9}, "direction": "Right", "pad_id": 1, "pad_type_id": 0, "pad_token": "p"},
      "model": {"type": "WordLevel", "unk_token": "u", "vocab": {"u": 0, "p": 1, "x": 2, "y": 3}}})";
  const Dataset data = TextDataset(Strings{"x y z", "y"}).pack(Tokenizer::from_str(json), {.length = 4});
  check_rows_are(data, {{"input_ids", {2, 3, 0, 3}}});
  std::vector<std::string> many;
  for (int i = 0; i < 500; ++i) many.push_back(std::string(static_cast<std::size_t>(i % 30), 'a'));
  const Dataset packed = TextDataset(many).pack(letter_ids, {.length = 16});
  double tokens = 0;
  std::int64_t rows = 0;
  auto stream = DataLoader(packed, {.batch_size = 8, .shuffle = true, .workers = 3}).epoch(0);
  while (const auto batch = stream.next()) {
    for (const double segment : (*batch)["segment_ids"].to_doubles()) tokens += segment > 0 ? 1 : 0;
    rows += batch->size;
  }
  BOOST_TEST(rows == packed.size());
  double all = 0;
  for (const std::string& text : many) all += static_cast<double>(text.size());
  BOOST_TEST(tokens == all);
}

BOOST_AUTO_TEST_CASE(ids_are_those_of_the_tokenizer) {
  const Tokenizer tokenizer =
      Tokenizer::from_str(R"({"model": {"type": "WordLevel", "unk_token": "?", "vocab": {"x": 0, "y": 1, "end": 2}}})");
  const TextDataset texts(Strings{"x", "y"});
  const auto refuse = [&](const std::string& text, const PackTextsOptions& options) {
    check_throws<ValueError>("[TextDataset.pack] " + text, [&] { texts.pack(tokenizer, options); });
  };
  refuse("end_id must be the id of a token; got 3 for 3 tokens", {.length = 4, .end_id = 3});
  refuse("pad_id must be the id of a token; got 7 for 3 tokens", {.length = 4, .pad_id = 7});
  refuse("ignore_id must be pad_id or no id of a token; got 2, \"end\"", {.length = 4, .ignore_id = 2});
  refuse("ids must not be ignore_id, which the loss leaves out; got 0 in text 0", {.length = 4, .ignore_id = 0});
  const Dataset data = texts.pack(tokenizer, {.length = 3, .strategy = "padded", .pad_id = 2, .ignore_id = 2});
  check_rows_are(data, {{"input_ids", {0, 2, 2, 1, 2, 2}}, {"labels", {2, 2, 2, 2, 2, 2}}});
  check_throws<ValueError>("[TextDataset.pack] text 1: [Tokenizer] the vocabulary must have the unknown token \"?\"",
                           [&] {
                             TextDataset(Strings{"x", "z"}).pack(tokenizer, {.length = 4});
                           });
  check_throws<ValueError>("[Tokenizer] text 1: [Tokenizer] the vocabulary must have the unknown token \"?\"", [&] {
    tokenizer.encode_batch({"x", "z"});
  });
}

BOOST_AUTO_TEST_CASE(packing_errors) {
  const std::string where = "[TextDataset.pack] ";
  check_throws<ValueError>(where + "length must be at least 1; got 0", [] { letters.pack(letter_ids, {}); });
  check_throws<ValueError>(where + "pad_id must be 0 or more and below 2^31; got -1",
                           [] { letters.pack(letter_ids, {.length = 4, .pad_id = -1}); });
  check_throws<NameError>(where + "unknown strategy \"bfd\"; valid names: best_fit, padded, wrapped",
                          [] { letters.pack(letter_ids, {.length = 4, .strategy = "bfd"}); });
  check_throws<ValueError>(where + "the texts must have tokens; got 1 texts without any",
                           [] { TextDataset(Strings{""}).pack(letter_ids, {.length = 4}); });
  check_throws<ValueError>(where + "ids must be 0 or more and below 2^31; got -64 in text 1", [] {
    TextDataset(Strings{"a", " "}).pack(letter_ids, {.length = 4});
  });
  check_throws<ValueError>(where + "encode must be given; got none", [] {
    letters.pack(std::function<std::vector<std::int64_t>(const std::string&)>(), {.length = 4});
  });
  check_throws<ValueError>(where + "end_id must be 0 or more and below 2^31; got -2",
                           [] { letters.pack(letter_ids, {.length = 4, .end_id = -2}); });
  check_throws<ValueError>(where + "end_id and ignore_id must differ; got 50 for both",
                           [] { letters.pack(letter_ids, {.length = 4, .end_id = 50, .ignore_id = 50}); });
  check_throws<ValueError>(where + "ids must not be ignore_id, which the loss leaves out; got 5 in text 2",
                           [] { letters.pack(letter_ids, {.length = 4, .ignore_id = 5}); });
  check_throws<ValueError>(where + "text 2: [x] no d", [] {
    letters.pack(
        [](const std::string& text) {
          if (text == "de") throw ValueError("[x] no d");
          return letter_ids(text);
        },
        {.length = 4});
  });
  check_throws<FileError>(where + "text 1: gone", [] {
    TextDataset(2, [](std::int64_t index) -> std::string {
      if (index == 1) throw FileError("gone");
      return "a";
    }).pack(letter_ids, {.length = 4});
  });
}

BOOST_AUTO_TEST_SUITE_END()
