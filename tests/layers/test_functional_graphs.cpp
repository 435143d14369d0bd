#include <boost/test/unit_test.hpp>

#include <algorithm>

#include <mezzo/graph/trace.hpp>
#include <mezzo/layers/activations/activation.hpp>
#include <mezzo/layers/activations/relu.hpp>
#include <mezzo/layers/convolutional/conv2d.hpp>
#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/merging/add.hpp>
#include <mezzo/layers/normalization/batch_normalization.hpp>
#include <mezzo/layers/pooling/max_pooling2d.hpp>
#include <mezzo/layers/preprocessing/rescaling.hpp>
#include <mezzo/layers/regularization/dropout.hpp>
#include <mezzo/layers/reshaping/flatten.hpp>
#include <mezzo/training/model/model.hpp>

#include "support/kernels.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// A chain of layers.
struct ManyLayers {
  Rescaling rescaling{{.scale = 0.5, .offset = 1}};
  Conv2D conv{{.filters = 4, .kernel_size = 3, .padding = "same", .activation = "relu"}};
  BatchNormalization last, first{{.axis = 1}};
  Add add;
  MaxPooling2D pool;
  ReLU relu;
  layers::Activation linear;
  Flatten flatten;
  Dense dense{{.units = 3}};

  Value operator()(const Value& x) {
    const Value a = conv(rescaling(x));
    const Value b = add({first(last(a)), a});
    return dense(flatten(linear(relu(pool(b)))));
  }
};

struct Run {
  Tensor output;
  std::vector<Tensor> moved;
};

template <class F>
Run run(F& f, const Tensor& x, bool training) {
  Trace trace(Trace::Mode::eager, training);
  Run result{f(Value(x)).tensor(), {}};
  for (const auto& update : trace.graph().updates) result.moved.push_back(update.value.tensor());
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(functional_graphs)

// Shapes, casts and moving statistics follow the call, for any batch size.
BOOST_AUTO_TEST_CASE(layers_give_in_a_functional_model_what_they_give_directly) {
  for (const char* policy : {"float32", "float64", "mixed_bfloat16", "mixed_float16"}) {
    const detail::PolicyScope scope{Policy(policy)};
    ManyLayers direct;
    const Value input = Input({.shape = {6, 6, 2}});
    const Value output = direct(input);
    BOOST_TEST((output.shape() == Shape{-1, 3}));
    Model model({.inputs = {input}, .outputs = {output}});
    BOOST_TEST(model.weights().size() == 12U);
    for (const std::int64_t batch : {4, 1}) {
      for (const bool training : {false, true}) {
        BOOST_TEST_CONTEXT(policy << ", batch " << batch << (training ? ", training" : "")) {
          const Tensor x = random_tensor({batch, 6, 6, 2});
          const Run expected = run(direct, x, training), got = run(model, x, training);
          BOOST_TEST(got.output.equal(expected.output));
          BOOST_TEST_REQUIRE(got.moved.size() == expected.moved.size());
          BOOST_TEST(got.moved.size() == (training ? 4U : 0U));
          for (std::size_t i = 0; i < got.moved.size(); ++i) BOOST_TEST(got.moved[i].equal(expected.moved[i]));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(dropout_drops_when_the_model_is_trained) {
  const Value input = Input({.shape = {1000}});
  Model model({.inputs = {input}, .outputs = {Dropout({.rate = 0.5})(input)}});
  const Tensor ones({2, 1000}, std::vector<float>(2000, 1.0F));
  BOOST_TEST(run(model, ones, false).output.equal(ones));
  const auto y = run(model, ones, true).output.to_doubles();
  const auto dropped = std::count(y.begin(), y.end(), 0.0);
  BOOST_TEST(std::abs(static_cast<double>(dropped) - 1000) < 120);  // five deviations
  BOOST_TEST(std::count(y.begin(), y.end(), 2.0) == 2000 - dropped);
}

BOOST_AUTO_TEST_SUITE_END()
