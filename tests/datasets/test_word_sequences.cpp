#include <mezzo/datasets/word_sequences.hpp>

#include <boost/test/unit_test.hpp>

#include "support/base64.hpp"
#include "support/folder.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using datasets::WordSequencesOptions;

namespace {

const nlohmann::json& case_of(const char* name) { return recorded("word_sequences").at(name); }

template <class Load>
void check_sets(const char* name, const Load& load, const std::vector<WordSequencesOptions>& all) {
  const Folder folder;
  folder.write(std::string(name) + ".npz", decoded_base64(case_of(name).at("file").get<std::string>()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    WordSequencesOptions options = all[i];
    options.root = folder.path();
    const auto [training, test] = load(options);
    const nlohmann::json& expected = case_of(name).at("sets")[i];
    for (const auto& [part, wanted] : {std::pair(training, expected[0]), std::pair(test, expected[1])}) {
      const bool equal = part.x == wanted.at("x").template get<std::vector<std::vector<std::int64_t>>>();
      BOOST_TEST(equal, name << " " << i);
      BOOST_TEST(part.y.to_doubles() == wanted.at("y").template get<std::vector<double>>(), name << " " << i);
    }
  }
}

std::string refused_file(const std::vector<std::uint8_t>& bytes) {
  const Folder folder;
  const std::string path = folder.write("reuters.npz", bytes);
  std::string text = refused<FileError>([&] { datasets::reuters({.root = folder.path()}); });
  const std::size_t at = text.find(path);
  return at == std::string::npos ? text : text.replace(at, path.size(), "FILE");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(word_sequences)

BOOST_AUTO_TEST_CASE(equal_keras) {
  check_sets("imdb", datasets::imdb,
             {{},
              {.num_words = 200, .skip_top = 5, .maxlen = 7, .seed = 4},
              {.num_words = 100, .start_char = std::nullopt, .oov_char = std::nullopt, .index_from = 0}});
  check_sets("reuters", datasets::reuters, {{}, {.num_words = 50, .test_split = 0.4}});
}

BOOST_AUTO_TEST_CASE(refused_pickles) {
  const std::string text = refused_file(decoded_base64(case_of("function").at("file").get<std::string>()));
  BOOST_TEST(text.find("[load_npz \"FILE\"] entry \"x.npy\": names \"") == 0U, text);
  BOOST_TEST(text.find("print\", which could run code and is not called; only lists of integers are read") <
             text.size());
  BOOST_TEST(refused_file(decoded_base64(case_of("words").at("file").get<std::string>())) ==
             "[load_npz \"FILE\"] entry \"x.npy\": must hold lists of integers; got another pickle");
  const std::vector<std::uint8_t> good = decoded_base64(case_of("reuters").at("file").get<std::string>());
  for (std::size_t i = 0; i < good.size(); i += 7) {  // no change crashes or is unbounded
    std::vector<std::uint8_t> bytes = good;
    bytes[i] ^= 0x55U;
    refused_file(bytes);
  }
  refused_file({good.begin(), good.begin() + 100});
}

BOOST_AUTO_TEST_CASE(refused_options) {
  BOOST_TEST(refused<ValueError>([] { datasets::imdb({.test_split = 0.5}); }) ==
             "[imdb] test_split must be left out: the file has a test set; got 0.5");
  BOOST_TEST(refused<ValueError>([] { datasets::reuters({.test_split = 1.5}); }) ==
             "[reuters] test_split must lie in [0, 1]; got 1.5");
  BOOST_TEST(refused<FileError>([] {
               datasets::imdb({.root = "/nowhere"});
             }).find("[imdb] root \"/nowhere\": no such file or directory") == 0);
}

BOOST_AUTO_TEST_SUITE_END()
