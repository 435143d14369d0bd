// Compares the pretrained all-MiniLM-L6-v2 with PyTorch.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdlib>

#include <mezzo/data/text/word_piece_tokenizer.hpp>
#include <mezzo/models/bert.hpp>
#include <mezzo/models/mean_pooling.hpp>

#include "support/recorded.hpp"
#include "support/skip.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Rows = std::vector<std::vector<double>>;

// Mean-pooled hidden states of norm 1, one row per text.
Rows embeddings(const std::string& folder, const std::vector<std::string>& texts, const Policy& policy) {
  const detail::PolicyScope scope(policy);
  Bert model(minilm_l6());
  const Encoding batch = WordPieceTokenizer(folder + "/vocab.txt").encode_batch(texts);
  const Values inputs{batch.input_ids, batch.attention_mask, batch.token_type_ids};
  model(inputs);
  model.load_weights(folder + "/model.safetensors");
  const Tensor pooled = mean_pooling(model(inputs).at(0), batch.attention_mask).tensor();
  const std::vector<double> numbers = pooled.to_doubles();
  Rows rows;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto size = static_cast<std::ptrdiff_t>(pooled.shape()[1]), begin = static_cast<std::ptrdiff_t>(i) * size;
    rows.emplace_back(numbers.begin() + begin, numbers.begin() + begin + size);
    double squares = 0;
    for (const double x : rows.back()) squares += x * x;
    for (double& x : rows.back()) x /= std::sqrt(squares);
  }
  return rows;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(minilm)

BOOST_AUTO_TEST_CASE(sentence_embeddings_are_pytorchs) {
  const char* folder = std::getenv("MEZZO_MINILM");
  if (folder == nullptr) return skip("MEZZO_MINILM names no folder with the pretrained all-MiniLM-L6-v2");
  const nlohmann::json& expected = recorded("minilm").at("all-MiniLM-L6-v2");
  const auto texts = expected.at("sentences").get<std::vector<std::string>>();
  const Rows wanted = expected.at("embeddings").get<Rows>();
  for (const char* name : {"float32", "mixed_bfloat16", "mixed_float16"}) {
    const Rows got = embeddings(folder, texts, Policy(name));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      BOOST_TEST_REQUIRE(got[i].size() == wanted[i].size());
      double cosine = 0, largest = 0;
      for (std::size_t c = 0; c < wanted[i].size(); ++c) {
        cosine += got[i][c] * wanted[i][c];
        largest = std::max(largest, std::abs(got[i][c] - wanted[i][c]));
      }
      BOOST_TEST_MESSAGE(name << ": cosine " << cosine << ", largest difference " << largest);
      BOOST_TEST(cosine >= 0.999, name << ", text " << i << ": cosine " << cosine);
      if (std::string(name) == "float32") BOOST_TEST(largest <= 1e-4, "text " << i << " is off by " << largest);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
