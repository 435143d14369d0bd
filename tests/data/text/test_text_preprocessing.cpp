#include <boost/test/unit_test.hpp>

#include <mezzo/data/loader.hpp>
#include <mezzo/data/text/hashes.hpp>
#include <mezzo/data/text/string_lookup.hpp>
#include <mezzo/data/text/text_vectorization.hpp>

#include "support/folder.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Words = std::vector<std::string>;

const nlohmann::json& cases() { return recorded("preprocessing"); }

Strings words() { return cases().at("words").get<std::vector<Words>>(); }

void check_equal(const Tensor& got, const nlohmann::json& expected, const std::string& name) {
  const Tensor wanted = recorded_tensor(expected);
  BOOST_TEST(got.shape() == wanted.shape(), name);
  if (got.shape() != wanted.shape()) return;
  const std::vector<double> a = got.to_doubles(), b = wanted.to_doubles();
  for (std::size_t i = 0; i < a.size(); ++i) {
    BOOST_TEST(std::abs(a[i] - b[i]) <= 1e-6 * (1 + std::abs(b[i])),
               name << " element " << i << ": " << a[i] << " is not " << b[i]);
  }
}

void check_lookup(const std::string& name, const StringLookupOptions& options, bool adapt = false) {
  const nlohmann::json& expected = cases().at("lookups").at(name);
  StringLookup lookup(options);
  if (adapt) lookup.adapt(words());
  BOOST_TEST(lookup.get_vocabulary() == expected.at("vocabulary").get<Words>(), name);
  check_equal(lookup(words()), expected.at("outputs")[0], name);
  if (expected.at("outputs").size() > 1) check_equal(lookup({"a", "z"}), expected.at("outputs")[1], name);
}

void check_vectorization(const std::string& name, const TextVectorizationOptions& options) {
  const nlohmann::json& expected = cases().at("vectorizations").at(name);
  const Strings texts = cases().at("texts").get<Words>();
  TextVectorization vectorize(options);
  if (options.vocabulary.empty()) vectorize.adapt(texts);
  BOOST_TEST(vectorize.get_vocabulary() == expected.at("vocabulary").get<Words>(), name);
  check_equal(vectorize(texts), expected.at("output"), name);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(text_preprocessing)

BOOST_AUTO_TEST_CASE(hashes_equal_tensorflow) {
  const nlohmann::json& expected = cases().at("hashes");
  const Tensor farm = recorded_tensor(expected.at("farm")), sip = recorded_tensor(expected.at("sip"));
  const Words texts = expected.at("strings").get<Words>();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    BOOST_TEST(static_cast<double>(detail::farm_hash(texts[i]) % 1000003) == farm.to_doubles()[i], "farm " << texts[i]);
    BOOST_TEST(static_cast<double>(detail::sip_hash(texts[i], {133, 137}) % 1000003) == sip.to_doubles()[i],
               "sip " << texts[i]);
  }
}

BOOST_AUTO_TEST_CASE(lookups_equal_keras) {
  const Words abcd{"a", "b", "c", "d"};
  check_lookup("int", {.vocabulary = abcd});
  check_lookup("mask", {.mask_token = "", .vocabulary = abcd});
  check_lookup("one_hot", {.vocabulary = abcd, .output_mode = "one_hot"});
  check_lookup("multi_hot", {.mask_token = "", .vocabulary = abcd, .output_mode = "multi_hot"});
  check_lookup("count", {.max_tokens = 7, .vocabulary = abcd, .output_mode = "count", .pad_to_max_tokens = true});
  check_lookup("tf_idf", {.vocabulary = abcd, .idf_weights = {0.25, 0.75, 0.6, 0.4}, .output_mode = "tf_idf"});
  check_lookup("several", {.num_oov_indices = 5, .vocabulary = abcd});
  check_lookup("salt", {.num_oov_indices = 5, .vocabulary = abcd, .salt = {133, 137}});
  check_lookup("adapt", {.max_tokens = 4}, true);
  check_lookup("adapt_tf_idf", {.output_mode = "tf_idf"}, true);
}

BOOST_AUTO_TEST_CASE(indices_become_strings) {
  const StringLookup invert({.mask_token = "", .vocabulary = {"a", "b"}, .invert = true});
  const Strings strings = invert(Tensor({2, 2}, std::vector<std::int64_t>{0, 1, 2, 9}));
  BOOST_TEST((strings == Strings({{"", "[UNK]"}, {"a", "[UNK]"}})));
  BOOST_TEST(refused<ValueError>([&] { invert("a"); }) == "[StringLookup] invert maps indices to strings; got strings");
  BOOST_TEST(refused<DTypeError>([&] { invert(Tensor({2})); }) ==
             "[StringLookup] indices must be integers; got float32 (2,)");
}

BOOST_AUTO_TEST_CASE(refused_lookups) {
  const auto text = [](const StringLookupOptions& options) {
    return refused<Error>([&] { StringLookup lookup(options); });
  };
  BOOST_TEST(text({.max_tokens = 1}) == "[StringLookup] max_tokens must be above 1; got 1");
  BOOST_TEST(text({.num_oov_indices = -1}) == "[StringLookup] num_oov_indices must not be negative; got -1");
  BOOST_TEST(text({.vocabulary = {"a", "a"}}) == "[StringLookup] tokens must differ; got \"a\" twice");
  BOOST_TEST(text({.max_tokens = 2, .vocabulary = {"a", "b"}}) ==
             "[StringLookup] the vocabulary must have at most max_tokens 2 with 1 special tokens; got 3");
  BOOST_TEST(text({.output_mode = "tfidf"}) ==
             "[StringLookup] unknown output_mode \"tfidf\"; valid names: count, int, multi_hot, one_hot, tf_idf; "
             "nearest: \"tf_idf\"");
  BOOST_TEST(text({.pad_to_max_tokens = true}) == "[StringLookup] max_tokens must be given with pad_to_max_tokens");
  BOOST_TEST(text({.salt = {1, 2, 3}}) == "[StringLookup] salt must be one or two numbers; got 3");
  StringLookup lookup;
  BOOST_TEST(refused<ValueError>([&] { lookup({"a"}); }) ==
             "[StringLookup] there is no vocabulary; give `vocabulary` or call adapt() or set_vocabulary()");
  BOOST_TEST(refused<ValueError>([&] { lookup.set_vocabulary({}); }) ==
             "[StringLookup] vocabulary must have tokens; got none");
  BOOST_TEST(refused<ValueError>([&] { lookup.adapt(Strings()); }) ==
             "[StringLookup] adapt: the data must have tokens; got none");
  const StringLookup strict({.num_oov_indices = 0, .vocabulary = {"a"}});
  BOOST_TEST(refused<ValueError>([&] {
               strict({"a", "x"});
             }) == "[StringLookup] \"x\" is not in the vocabulary; use num_oov_indices = 1 for unknown tokens");
  BOOST_TEST(refused<ValueError>([] { StringLookup({.vocabulary = {"a"}}).adapt({"b"}); }) ==
             "[StringLookup] adapt: the vocabulary was given and can't be adapted");
}

BOOST_AUTO_TEST_CASE(vectorizations_equal_keras) {
  check_vectorization("default", {});
  check_vectorization("length", {.max_tokens = 6, .output_sequence_length = 3});
  check_vectorization("lower", {.standardize = "lower"});
  check_vectorization("strip", {.standardize = "strip_punctuation"});
  check_vectorization("none", {.standardize = std::nullopt, .split = std::nullopt});
  check_vectorization("character", {.split = "character"});
  check_vectorization("ngrams", {.ngrams = {1, 2}});
  check_vectorization("multi_hot", {.output_mode = "multi_hot"});
  check_vectorization("count", {.max_tokens = 30, .output_mode = "count", .pad_to_max_tokens = true});
  check_vectorization("tf_idf", {.output_mode = "tf_idf"});
  check_vectorization("vocabulary", {.vocabulary = {"cat", "dog"}});
}

BOOST_AUTO_TEST_CASE(functions_and_errors_of_vectorizations) {
  TextVectorization vectorize({.standardize = [](const std::string& text) { return text + " end"; },
                               .split =
                                   [](const std::string& text) {
                                     return Words{text.substr(0, 1), "end"};
                                   }});
  vectorize.adapt({"xy", "yz"});
  BOOST_TEST(vectorize.get_vocabulary() == (Words{"", "[UNK]", "end", "y", "x"}));
  BOOST_TEST(vectorize({"yes"}).to_doubles() == (std::vector<double>{3, 2}));
  BOOST_TEST(vectorize({{"yes"}, {"xx"}}).describe() == "int64 (2, 2)");
  BOOST_TEST(refused<ShapeError>([] {
               Strings({{"a"}, {"b", "c"}});
             }) == "[Strings] lists must have one shape; got (1,) and (2,)");
  BOOST_TEST(vectorize("yes").describe() == "int64 (2,)");
  const auto text = [](const TextVectorizationOptions& options) {
    return refused<Error>([&] { TextVectorization layer(options); });
  };
  BOOST_TEST(text({.standardize = "upper"}) ==
             "[TextVectorization] unknown standardize \"upper\"; valid names: lower, "
             "lower_and_strip_punctuation, strip_punctuation");
  BOOST_TEST(text({.standardize = std::function<std::string(const std::string&)>()}) ==
             "[TextVectorization] unknown standardize \"\"; valid names: lower, lower_and_strip_punctuation, "
             "strip_punctuation");
  BOOST_TEST(text({.split = ""}) == "[TextVectorization] unknown split \"\"; valid names: character, whitespace");
  BOOST_TEST(text({.split = "words"}) ==
             "[TextVectorization] unknown split \"words\"; valid names: character, whitespace");
  BOOST_TEST(text({.output_mode = "count", .output_sequence_length = 3}) ==
             "[TextVectorization] output_sequence_length must be left out for output_mode \"count\"");
  BOOST_TEST(text({.split = std::nullopt, .ngrams = {2}}) ==
             "[TextVectorization] ngrams must be left out without split");
  BOOST_TEST(refused<ValueError>([] { TextVectorization()("a"); }).find("[TextVectorization] there is no vocabulary") ==
             0);
  BOOST_TEST(refused<ShapeError>([&] { vectorize(words()); }) ==
             "[TextVectorization] texts to split must have shape (count,) or (count, 1); got shape (3, 4)");
}

BOOST_AUTO_TEST_CASE(texts_of_folders) {
  const Folder folder;
  for (const char* name : {"neg/1.txt", "neg/sub/2.txt", "pos/3.TXT", "pos/4.txt", "pos/note.md"}) {
    const std::string text = std::string("text of ") + name;
    folder.write(name, {text.begin(), text.end()});
  }
  const TextDataset data = text_dataset_from_directory(folder.path(), {.shuffle = false});
  BOOST_TEST(data.class_names() == (Words{"neg", "pos"}));
  BOOST_TEST(data.labels().to_doubles() == (std::vector<double>{0, 0, 1, 1}));
  BOOST_TEST(data.text(1) == "text of neg/sub/2.txt");
  TextVectorization vectorize({.output_sequence_length = 4});
  vectorize.adapt(data);
  detail::BatchStream stream = DataLoader(data.map(vectorize), {.batch_size = 4, .workers = 2}).epoch(0);
  const HostBatch batch = *stream.next();
  BOOST_TEST(batch["text"].equal(vectorize(data.texts())));
  BOOST_TEST(batch["label"].describe() == "int32 (4,)");
  const auto [training, validation] =
      text_datasets_from_directory(folder.path(), {.label_mode = "binary", .seed = 3, .validation_split = 0.25});
  BOOST_TEST(training.size() == 3);
  BOOST_TEST(validation.labels().describe() == "float32 (1, 1)");
  const TextDataset same =
      text_dataset_from_directory(folder.path(), {.seed = 3, .validation_split = 0.25, .subset = "validation"});
  BOOST_TEST(same.file_paths() == validation.file_paths());
  const TextDataset plain =
      text_dataset_from_directory(folder.path(), {.labels = std::nullopt, .max_length = 4, .shuffle = false});
  BOOST_TEST((plain.texts() == Strings({"text", "text", "text", "text"})));
  BOOST_TEST(refused<ValueError>([&] { plain.labels(); }) == "[TextDataset] there must be labels; got none");
  const auto text = [&](const TextDatasetOptions& options) {
    return refused<Error>([&] { text_dataset_from_directory(folder.path(), options); });
  };
  const std::string where = "[text_dataset_from_directory] ";
  BOOST_TEST(text({.labels = {0, 1}}) == where + "labels must have one number for each of 4 files; got 2");
  BOOST_TEST(text({.label_mode = "string"}) ==
             where + "unknown label_mode \"string\"; valid names: binary, categorical, int");
  BOOST_TEST(text({.class_names = Words{"neg", "neutral"}}).find(where + "unknown class \"neutral\"; folders of ") ==
             0);
  BOOST_TEST(text({.validation_split = 0.5}) ==
             where + "validation_split and subset must be given together; got validation_split alone");
  BOOST_TEST(text({.validation_split = 0.5, .subset = "training"}) ==
             where + "seed must be given with validation_split and shuffle: the parts must not overlap");
  BOOST_TEST(text({.label_mode = "binary", .class_names = Words{"neg"}}) ==
             where + "label_mode \"binary\" must have 2 classes; got 1: neg");
  const auto parts = [&](const TextDatasetOptions& options) {
    return refused<Error>([&] { text_datasets_from_directory(folder.path(), options); });
  };
  BOOST_TEST(parts({.seed = 1}) == where + "validation_split must be given for two parts");
  BOOST_TEST(parts({.subset = "training"}) == where + "subset must be left out; got \"training\"");
}

BOOST_AUTO_TEST_SUITE_END()
