// Options of GPT, BERT and ViT reach the ops: dropout rates and epsilons in the graph of a training step.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <map>

#include <mezzo/mezzo.hpp>

#include "formula.hpp"
#include "small.hpp"
#include "support/runs.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Counts = std::map<double, int>;

/// How many nodes of an op have which value of an attribute.
Counts count(const Graph& graph, const std::string& op, const std::string& attribute) {
  Counts counts;
  for (const detail::NodePtr& node : graph.nodes) {
    if (node->op->name == op) ++counts[node->attributes.get<double>(attribute)];
  }
  return counts;
}

/// Numbers of nodes with each rate or epsilon.
struct Found {
  Counts dropout, attention, epsilon;
};

template <class M>
Found trace(M model, const Tensor& x) {
  model.build(x.shape());
  const Graph graph = trace_step([&](const Values& inputs) { return model(inputs); }, {x}, true);
  return {count(graph, "dropout", "rate"), count(graph, "scaled_dot_product_attention", "rate"),
          count(graph, "layer_norm", "epsilon")};
}

const Tensor ids({2, 7}, DType::int64);

}  // namespace

BOOST_AUTO_TEST_SUITE(options)

BOOST_AUTO_TEST_CASE(gpt_has_its_dropout_rates_and_epsilon) {
  GPTOptions options = small_gpt();
  options.resid_pdrop = 0.25;
  options.embd_pdrop = 0.125;
  options.attn_pdrop = 0.375;
  options.layer_norm_epsilon = 0.5;
  const Found found = trace(GPT(options), ids);
  BOOST_TEST((found.dropout == Counts{{0.125, 1}, {0.25, 4}}));  // two in each of two blocks
  BOOST_TEST((found.attention == Counts{{0.375, 2}}));
  BOOST_TEST((found.epsilon == Counts{{0.5, 5}}));
}

// GPT-2 scales the layers that end in a residual sum, two per block, by 1 / sqrt(their number).
BOOST_AUTO_TEST_CASE(kernels_of_gpt_start_with_gpt_2s_deviations) {
  seed_everything(1);
  GPT model({.vocab_size = 200, .n_positions = 12, .n_embd = 96, .n_layer = 2, .n_head = 3, .initializer_range = 0.1});
  model.build({1, 7});
  int residual = 0;
  for (const auto& [path, weight] : model.named_weights()) {
    if (weight.shape().size() < 2 || element_count(weight.shape()) < 9000) continue;
    const bool ends_in_sum = path.find("c_proj") != std::string::npos;
    residual += ends_in_sum ? 1 : 0;
    const double size = static_cast<double>(element_count(weight.shape()));
    const double deviation = std::sqrt(dot(weight.value(), weight.value()) / size);
    // The relative error of a deviation from 9,216 numbers is 0.0074.
    BOOST_TEST(deviation == (ends_in_sum ? 0.05 : 0.1), boost::test_tools::tolerance(0.03));
  }
  BOOST_TEST(residual == 4);
}

BOOST_AUTO_TEST_CASE(bert_has_its_dropout_rates_and_epsilon) {
  BertOptions options = small_bert();
  options.hidden_dropout_prob = 0.25;
  options.attention_probs_dropout_prob = 0.375;
  options.layer_norm_eps = 0.5;
  const Found plain = trace(Bert(options), ids);
  BOOST_TEST((plain.dropout == Counts{{0.25, 5}}));  // of the embeddings, and two in each of two layers
  BOOST_TEST((plain.attention == Counts{{0.375, 2}}));
  BOOST_TEST((plain.epsilon == Counts{{0.5, 5}}));
  const Found classifier = trace(BertForSequenceClassification({.bert = options}), ids);
  BOOST_TEST((classifier.dropout == Counts{{0.25, 6}}));  // and one before the classifier
  BOOST_TEST((classifier.attention == Counts{{0.375, 2}}));
  BOOST_TEST((classifier.epsilon == Counts{{0.5, 5}}));
}

BOOST_AUTO_TEST_CASE(vit_has_its_dropout_rates_and_torchvisions_epsilon) {
  ViTOptions options = small_vit();
  options.dropout = 0.25;
  options.attention_dropout = 0.375;
  const Found found = trace(ViT(options), images({2, 8, 8, 3}).cast(DType::float32));
  BOOST_TEST((found.dropout == Counts{{0.25, 7}}));  // of the embeddings, and three in each of two layers
  BOOST_TEST((found.attention == Counts{{0.375, 2}}));
  BOOST_TEST((found.epsilon == Counts{{1e-6, 5}}));
}

BOOST_AUTO_TEST_CASE(defaults_are_those_of_the_published_models) {
  const GPTOptions gpt;
  BOOST_TEST(gpt.resid_pdrop == 0.1);
  BOOST_TEST(gpt.embd_pdrop == 0.1);
  BOOST_TEST(gpt.attn_pdrop == 0.1);
  BOOST_TEST(gpt.layer_norm_epsilon == 1e-5);
  const BertOptions bert;
  BOOST_TEST(bert.hidden_dropout_prob == 0.1);
  BOOST_TEST(bert.attention_probs_dropout_prob == 0.1);
  BOOST_TEST(bert.layer_norm_eps == 1e-12);
  const ViTOptions vit;
  BOOST_TEST(vit.dropout == 0);
  BOOST_TEST(vit.attention_dropout == 0);
}

BOOST_AUTO_TEST_SUITE_END()
