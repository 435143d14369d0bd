// Small models as frozen graphs.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "models/small.hpp"
#include "support/frozen.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

void check_pictures(Module& model, const Shape& sample, double tolerance = 1e-5) {
  for (const std::int64_t batch : {1, 3}) {
    Shape shape = sample;
    shape.insert(shape.begin(), batch);
    const Tensor x = random_tensor(shape, DType::float32, static_cast<std::uint64_t>(batch));
    if (batch == 1) {
      model(Value(x));  // builds it
      set_positive_weights(model);
    }
    check_frozen_module(model, {x}, tolerance);
  }
}

void check_tokens(Module& model, double tolerance = 1e-5) {
  const Tensor x = random_tensor({2, 7}, DType::int32, 2, 0, 13);
  model(Value(x));
  check_frozen_module(model, {x}, tolerance);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(frozen_models)

BOOST_AUTO_TEST_CASE(networks_for_images) {
  MLP mlp;
  check_pictures(mlp, {28, 28, 1});
  LeNet lenet;
  check_pictures(lenet, {28, 28, 1});
  CNN cnn;
  check_pictures(cnn, {28, 28, 1});
  ResNet basic = resnet18({.classes = 5, .stem = 8, .filters = {8, 12, 16, 20}});
  check_pictures(basic, {32, 32, 3});
  ResNet bottleneck = resnet50({.classes = 5, .stem = 8, .filters = {4, 6, 8, 10}});
  check_pictures(bottleneck, {32, 32, 3});
  MobileNetV2 mobile({.classes = 5, .width_mult = 0.25});
  check_pictures(mobile, {32, 32, 3});
}

BOOST_AUTO_TEST_CASE(batch_norms_of_convolutions_are_gone) {
  MobileNetV2 mobile({.classes = 5, .width_mult = 0.25});
  const Tensor x({1, 32, 32, 3});
  mobile(Value(x));
  detail::FrozenConstants constants;
  const Graph frozen = run_passes(detail::freeze(detail::inference_graph(mobile, {{x.shape(), x.dtype()}}), constants));
  for (const char* op : {"batch_norm", "relu", "add"}) BOOST_TEST(count_nodes(frozen, op) == 0, op);
}

BOOST_AUTO_TEST_CASE(models_of_text) {
  Bert bert(small_bert());
  check_tokens(bert);
  DistilBert distil(small_distilbert());
  check_tokens(distil);
  Roberta roberta(small_roberta());
  check_tokens(roberta);
  GPT gpt(small_gpt());
  check_tokens(gpt);
  Llama llama(small_llama());
  check_tokens(llama);
}

BOOST_AUTO_TEST_SUITE_END()
