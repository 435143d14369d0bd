// Layers with weights of NF4.
#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/mezzo.hpp>

#include "support/folder.hpp"
#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::per_element;

namespace {

Tensor normal(const Shape& shape, std::uint64_t seed) { return random::normal(shape, {.seed = seed}).tensor(); }

Dense dense_of(const Tensor& kernel) {
  Dense layer({.units = kernel.shape()[1], .use_bias = false});
  layer.build({-1, kernel.shape()[0]});
  layer.set_weights({kernel});
  return layer;
}

// The numbers that a kernel (in, out) has by nf4_encode() of its transpose, as bitsandbytes flattens weights.
Tensor as_bitsandbytes(const Tensor& kernel) {
  const Tensor flat = transpose(Value(kernel)).tensor();
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(flat.size() / 2));
  std::vector<float> scales(static_cast<std::size_t>(flat.size() / nf4_block));
  Tensor out(flat.shape(), DType::float32);
  nf4_encode(flat.data<float>(), flat.size(), codes.data(), scales.data());
  nf4_decode(codes.data(), scales.data(), flat.size(), out.mutable_data<float>());
  return transpose(Value(out)).tensor();
}

// A classifier of 2 classes with a quantized hidden layer and adapters there.
Sequential network(const std::string& mode) {
  seed_everything(3);
  Sequential model({Input({8}), Dense(32, {.activation = "relu", .name = "low"}), Dense(2, {.name = "head"})});
  model.compile({.optimizer = AdamW(0.01), .loss = "mse"});
  model.quantize(mode, {.filters = "low"});
  model.enable_lora({.targets = "low", .rank = 4});
  return model;
}

double loss_of(Sequential& model, const Tensor& x, const Tensor& y) {
  return model.evaluate(x, y, {.verbose = 0}).at("loss");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nf4_layers)

BOOST_AUTO_TEST_CASE(numbers_are_those_of_bitsandbytes_for_whole_blocks) {
  const Tensor kernel = normal({128, 6}, 1);
  Dense layer = dense_of(kernel);
  layer.quantize("nf4");
  BOOST_TEST(layer.dtype_policy().name() == "nf4/64_from_float32");
  const Variable stored = layer.weights()[0], scale = layer.weights()[1];
  BOOST_TEST(stored.state()->value.bytes() == 128U * 3U);
  BOOST_TEST((scale.shape() == Shape{2, 6}));
  const Tensor expected = as_bitsandbytes(kernel);
  BOOST_TEST(Value(stored).tensor().equal(expected));
  for (const std::int64_t rows : {2, 20}) {
    const Tensor x = normal({rows, 128}, 2);
    BOOST_TEST(largest_difference(layer(x).tensor(), matmul(x, expected).tensor()) < 1e-4);
  }
}

BOOST_AUTO_TEST_CASE(codes_and_policies) {
  Dense layer = dense_of(Tensor({3, 2}, std::vector<double>{1, -2, 0.5, 0, -1, 2}).cast(DType::float32));
  layer.quantize("nf4/2");
  BOOST_TEST(layer.weights()[0].value().to_doubles() == (std::vector<double>{15, 0, 12, 7, 0, 15}), per_element());
  check_throws<ValueError>("[Variable \"kernel\"] codes must be in [0, 15]; got 16", [&] {
    layer.weights()[0].assign(Tensor({3, 2}, std::vector<double>{16, 0, 0, 0, 0, 0}).cast(DType::int8));
  });
  for (const char* name : {"nf4_from_mixed_bfloat16", "nf4/64_from_float32"}) {
    Dense built({.units = 2, .dtype = name});
    built.build({-1, 3});
    BOOST_TEST(built.weights()[0].quantized());
    BOOST_TEST(built.dtype_policy().name() == name);
    BOOST_TEST(built.dtype_policy().block_size() == 64);
  }
  check_throws<ValueError>("activations must be none with nf4, whose codes aren't integers; got dynamic",
                           [] { Policy("nf4/dynamic_from_float32"); });
  BOOST_CHECK_THROW(Policy("nf4/-1_from_float32"), NameError);
  Dense other = dense_of(normal({3, 2}, 1));
  check_throws<ValueError>("[Dense] activations must be none with nf4, whose codes aren't integers; got static",
                           [&] { other.quantize("nf4", {.activations = "static"}); });
  other.weights()[0].assign(Tensor({3, 2}, std::vector<double>{1, 2, NAN, 4, 5, 6}));
  check_throws<ValueError>("[Dense] quantize: numbers of /kernel must be finite; got nan",
                           [&] { other.quantize("nf4"); });
}

BOOST_AUTO_TEST_CASE(tables_give_rows_and_products) {
  ReversibleEmbedding table({.input_dim = 9, .output_dim = 70});
  const Tensor ids = random_tensor({2, 4}, DType::int32, 1, 0, 9);
  const Tensor rows = table(ids).tensor();
  table.quantize("nf4");
  const Tensor codes = table(ids).tensor();
  BOOST_TEST(largest_difference(codes, rows) < 0.01);
  const Tensor numbers = Value(table.weights()[0]).tensor();
  BOOST_TEST(codes.equal(gather(numbers, Value(ids)).tensor()));
  const Tensor scores = table(Value(codes), {.reverse = true}).tensor();
  BOOST_TEST(largest_difference(scores, matmul(codes, numbers, {.transpose_b = true}).tensor()) < 1e-5);
}

BOOST_AUTO_TEST_CASE(adapters_train_on_quantized_kernels) {
  const Tensor x = normal({48, 8}, 5), y = normal({48, 2}, 6);
  for (const char* mode : {"nf4", "nf4/4", "int4/4", "int8"}) {
    BOOST_TEST_CONTEXT(mode) {
      Sequential model = network(mode);
      const Tensor codes = model.get_layer("low").weights()[0].value().copy();
      const double before = loss_of(model, x, y);
      model.fit(x, y, {.epochs = 10, .verbose = 0});
      BOOST_TEST(loss_of(model, x, y) < 0.9 * before);
      BOOST_TEST(model.get_layer("low").weights()[0].value().equal(codes));
      const Folder folder;
      model.save(folder.path("model.mezzo"));
      const auto loaded = load_model(folder.path("model.mezzo"));
      BOOST_TEST(loaded->predict(x).equal(model.predict(x)));
      Sequential other = network(mode);
      model.save_weights(folder.path("model.safetensors"));
      other.load_weights(folder.path("model.safetensors"));
      BOOST_TEST(other.predict(x).equal(model.predict(x)));
    }
  }
}

BOOST_AUTO_TEST_CASE(keras_has_no_nf4) {
  Sequential model({Input({8}), Dense(4)});
  model.quantize("nf4");
  const Folder folder;
  const std::string file = folder.path("model.keras");
  check_throws<ValueError>("[model \"" + file +
                               "\"] the model can't be saved for Keras: [Dense] Keras has no dtype "
                               "policy \"nf4/64_from_float32\"",
                           [&] { model.save(file); });
  check_throws<ValueError>("[Dense] Keras has no nf4 weights; save as .mezzo",
                           [&] { model.save_weights(folder.path("model.weights.h5")); });
}

BOOST_AUTO_TEST_SUITE_END()
