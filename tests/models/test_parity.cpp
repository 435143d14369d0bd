// Compares one training step of each model with PyTorch's, as recorded by tests/parity/models.py.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "parity.hpp"
#include "small.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

template <class Make>
void check(const std::string& name, const Make& make, double float64 = 1e-9) {
  const nlohmann::json& expected = recorded("models").at(name);
  BOOST_TEST_CONTEXT(name << " in float64") {
    const detail::PolicyScope policy{Policy("float64")};
    auto model = make();
    check_training_step(expected, model, DType::float64, {.output = float64, .gradient = float64});
  }
  BOOST_TEST_CONTEXT(name << " in float32") {
    auto model = make();
    check_training_step(expected, model, DType::float32, {.output = 1e-4, .gradient = 1e-3});
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(parity)

BOOST_AUTO_TEST_CASE(a_step_of_bert_is_hugging_faces) {
  check("bert", [] { return BertForSequenceClassification({.bert = small_bert(), .num_labels = 3}); });
}

BOOST_AUTO_TEST_CASE(a_step_of_distilbert_is_hugging_faces) {
  check("distilbert", [] {
    return DistilBertForSequenceClassification(
        {.distilbert = small_distilbert(), .num_labels = 3, .seq_classif_dropout = 0});
  });
}

BOOST_AUTO_TEST_CASE(a_step_of_gpt_is_hugging_faces) {
  check("gpt", [] { return GPT(small_gpt()); });
}

// Hugging Face computes normalizations and angles in float32, whatever the model's dtype.
BOOST_AUTO_TEST_CASE(a_step_of_llama_is_hugging_faces) {
  check(
      "llama", [] { return Llama(small_llama()); }, 5e-6);
}

BOOST_AUTO_TEST_CASE(a_step_of_vit_is_torchvisions) {
  check("vit", [] { return ViT(small_vit()); });
}

BOOST_AUTO_TEST_CASE(a_step_of_lenet_is_torchs) {
  check("lenet", [] { return LeNet({.scale = 1}); });
}

BOOST_AUTO_TEST_CASE(a_step_of_mlp_is_torchs) {
  check("mlp", [] { return MLP({.hidden_units = {7, 6}, .classes = 4}); });
}

BOOST_AUTO_TEST_CASE(a_step_of_cnn_is_torchs) {
  check("cnn", [] { return CNN({.classes = 4, .scale = 1, .dropout = 0}); });
}

BOOST_AUTO_TEST_SUITE_END()
