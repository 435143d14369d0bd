// Layers that merge, normalize, activate or encode positions, against values of Keras and keras_hub.
#include <mezzo/layers/activations/elu.hpp>
#include <mezzo/layers/activations/prelu.hpp>
#include <mezzo/layers/activations/relu.hpp>
#include <mezzo/layers/activations/softmax.hpp>
#include <mezzo/layers/convolutional/conv2d.hpp>
#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/core/einsum_dense.hpp>
#include <mezzo/layers/core/embedding.hpp>
#include <mezzo/layers/core/identity.hpp>
#include <mezzo/layers/core/position_embedding.hpp>
#include <mezzo/layers/core/reversible_embedding.hpp>
#include <mezzo/layers/core/rotary_embedding.hpp>
#include <mezzo/layers/core/sine_position_encoding.hpp>
#include <mezzo/layers/merging/dot.hpp>
#include <mezzo/layers/merging/merging.hpp>
#include <mezzo/layers/normalization/group_normalization.hpp>
#include <mezzo/layers/normalization/rms_normalization.hpp>
#include <mezzo/layers/normalization/spectral_normalization.hpp>
#include <mezzo/layers/normalization/unit_normalization.hpp>
#include <mezzo/layers/regularization/activity_regularization.hpp>
#include <mezzo/layers/regularization/noise.hpp>
#include <mezzo/layers/regularization/spatial_dropout.hpp>

#include <cmath>
#include <numbers>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// A layer called with positions or a start index.
template <class L>
class At : public L {
 public:
  At(L layer, std::int64_t start, Value positions = {})
      : L(std::move(layer)), start_(start), positions_(std::move(positions)) {}

 protected:
  Value call_at(const Value& x, const Value&, std::int64_t) override { return L::call_at(x, positions_, start_); }

 private:
  std::int64_t start_;
  Value positions_;
};

class Reversed : public Layer {
 public:
  explicit Reversed(ReversibleEmbedding layer) : Layer("Reversed"), layer_(sub("inner", std::move(layer))) {}

 protected:
  Value call(const Value& x) override { return layer_(x, {.reverse = true}); }

 private:
  ReversibleEmbedding layer_;
};

class Masked : public Layer {
 public:
  Masked(Softmax layer, Tensor mask)
      : Layer("Masked"), layer_(sub("inner", std::move(layer))), mask_(std::move(mask)) {}

 protected:
  Value call(const Value& x) override { return layer_(x, {.mask = mask_}); }

 private:
  Softmax layer_;
  Tensor mask_;
};

Tensor numbers(const Shape& shape, const std::vector<double>& values) { return Tensor(shape, values); }

const Tensor two_rows = numbers({2, 5}, {0, 2, 4, 6, 9, 1, 3, 3, 0, 7});
const Tensor small_rows = numbers({2, 5}, {0, 2, 4, 6, 7, 1, 3, 3, 0, 7});

struct Row {
  const char* name;
  std::function<Any<Layer>()> make;
};

// clang-format off
const std::vector<Row> rows{
    {"subtract", [] { return Subtract(); }},
    {"average", [] { return Average(); }},
    {"maximum", [] { return Maximum(); }},
    {"minimum", [] { return Minimum(); }},
    {"average_ranks", [] { return Average(); }},
    {"dot", [] { return Dot(1); }},
    {"dot_normalize", [] { return Dot({.axes = -1, .normalize = true}); }},
    {"dot_axes", [] { return Dot({1, 2}); }},
    {"dot_ranks", [] { return Dot({3, 1}, {.normalize = true}); }},
    {"dot_of_vectors", [] { return Dot({2, 1}); }},
    {"prelu", [] { return PReLU(); }},
    {"prelu_shared", [] { return PReLU({.shared_axes = {1, 2}}); }},
    {"elu", [] { return ELU(); }},
    {"elu_alpha", [] { return ELU(0.3); }},
    {"softmax_axes", [] { return Softmax({.axis = {1, -1}}); }},
    {"softmax_mask", [] {
       return Masked(Softmax(), numbers({3, 4}, {1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0}).cast(DType::boolean)); }},
    {"softmax_mask_axes", [] { return Masked(Softmax({.axis = {-2, -1}}), numbers({2, 1, 3}, {1, 0, 1, 1, 1, 0})); }},
    {"group_normalization", [] { return GroupNormalization(3); }},
    {"group_normalization_options", [] { return GroupNormalization({.groups = 2, .axis = 1, .epsilon = 1e-5}); }},
    {"group_normalization_of_instances", [] { return GroupNormalization(-1, {.center = false}); }},
    {"group_normalization_of_vectors", [] { return GroupNormalization(2, {.scale = false}); }},
    {"group_normalization_frozen", [] { return GroupNormalization({.groups = 1, .trainable = false}); }},
    {"rms_normalization", [] { return RMSNormalization(); }},
    {"rms_normalization_axes", [] { return RMSNormalization({.axis = {-2, -1}, .epsilon = 1e-2}); }},
    {"unit_normalization", [] { return UnitNormalization(); }},
    {"unit_normalization_axes", [] { return UnitNormalization({.axis = {1, 2}}); }},
    {"spectral_normalization", [] { return SpectralNormalization(Dense(4)); }},
    {"spectral_normalization_conv2d", [] { return SpectralNormalization(Conv2D(3, 2), 3); }},
    {"activity_regularization", [] { return ActivityRegularization(0.1, 0.2); }},
    {"identity", [] { return layers::Identity(); }},
    {"gaussian_noise_inference", [] { return GaussianNoise(0.5); }},
    {"spatial_dropout_inference", [] { return SpatialDropout1D(0.5); }},
    {"einsum_dense", [] { return EinsumDense("ab,bc->ac", 4, {.bias_axes = "c"}); }},
    {"einsum_dense_heads", [] { return EinsumDense("abc,cde->abde", {-1, 2, 3}, {.bias_axes = "de"}); }},
    {"einsum_dense_merge", [] {
       return EinsumDense("abde,dec->abc", {-1, 5}, {.activation = "tanh", .bias_axes = "c"}); }},
    {"einsum_dense_ellipsis", [] { return EinsumDense("...x,xy->...y", 4, {.bias_axes = "y"}); }},
    {"einsum_dense_last_ellipsis", [] { return EinsumDense("ab...,bc->ac...", 4, {.bias_axes = "c"}); }},
    {"einsum_dense_elementwise", [] { return EinsumDense("abc,bc->abc", {5, 6}, {.bias_axes = "b"}); }},
    {"reversible_embedding", [] { return ReversibleEmbedding(7, 3); }},
    {"reversible_embedding_reverse", [] { return Reversed(ReversibleEmbedding(7, 6, {.logit_soft_cap = 2})); }},
    {"reversible_embedding_untied", [] { return Reversed(ReversibleEmbedding(7, 6, {.tie_weights = false})); }},
    {"rotary", [] { return RotaryEmbedding(); }},
    {"rotary_heads", [] { return At(RotaryEmbedding({.max_wavelength = 100, .scaling_factor = 4}), 3); }},
    {"rotary_dynamic", [] {
       return RotaryEmbedding({.scaling_factor = 2, .rope_type = "dynamic", .denominator_dim = 10}); }},
    {"rotary_yarn", [] {
       return RotaryEmbedding({.scaling_factor = 8, .rope_type = "yarn", .beta_fast = 4,
                               .original_max_position_embeddings = 64, .truncate = false}); }},
    {"rotary_yarn_truncate", [] {
       return At(RotaryEmbedding({.scaling_factor = 8, .rope_type = "yarn", .original_max_position_embeddings = 64}), 62); }},
    {"rotary_axes", [] { return RotaryEmbedding({.sequence_axis = 2, .feature_axis = 1}); }},
    {"rotary_positions", [] { return At(RotaryEmbedding(), 0, two_rows); }},
    {"sine", [] { return SinePositionEncoding(); }},
    {"sine_options", [] { return At(SinePositionEncoding(50), 4); }},
    {"sine_positions", [] { return At(SinePositionEncoding(), 0, numbers({5}, {3, 0, 1, 1, 8})); }},
    {"position_embedding", [] { return PositionEmbedding(8); }},
    {"position_embedding_start", [] { return At(PositionEmbedding(8), 3); }},
    {"position_embedding_positions", [] { return At(PositionEmbedding(8), 0, small_rows.cast(DType::int32)); }},
};
// clang-format on

const nlohmann::json& cases() { return recorded("basic_layers"); }

}  // namespace

BOOST_AUTO_TEST_SUITE(basic_layers)

BOOST_AUTO_TEST_CASE(equal_keras) {
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) { check_layer(cases().at(row.name), row.make); }
  }
  BOOST_TEST(rows.size() == cases().size());
}

// Four roundings of the largest element, as for compositions of ops.
BOOST_AUTO_TEST_CASE(mixed_policies_are_bounded) {
  for (const Row& row : rows) {
    std::vector<Tensor> inputs;
    for (const auto& x : cases().at(row.name).at("inputs")) {
      const Tensor input = recorded_tensor(x);
      inputs.push_back(is_floating(input.dtype()) ? input.cast(DType::bfloat16).cast(DType::float32) : input);
    }
    const Values xs(inputs.begin(), inputs.end());
    const Any<Layer> exact = row.make();
    const Tensor y = (*exact)(xs)[0].tensor();
    for (const char* name : {"mixed_bfloat16", "mixed_float16"}) {
      const detail::PolicyScope scope{Policy(name)};
      const Any<Layer> layer = row.make();
      (*layer)(xs);
      layer->set_weights(exact->get_weights());
      const Tensor narrow = (*layer)(xs)[0].tensor();
      // Inputs that a layer returns unchanged keep their dtype.
      if (!narrow.equal(inputs[0])) BOOST_TEST((narrow.dtype() == Policy(name).compute_dtype()), row.name);
      double largest = 0;
      for (const double element : y.to_doubles()) largest = std::max(largest, std::abs(element));
      const double rounding = std::string(name) == "mixed_bfloat16" ? 1.0 / 256 : 1.0 / 2048;
      BOOST_TEST(largest_difference(narrow, y) <= 4 * rounding * largest, row.name << " " << name);
    }
  }
}

// Sums of squares in float16 overflow, and statistics in bfloat16 lose the deviation beside the mean.
BOOST_AUTO_TEST_CASE(normalizations_have_float32_statistics) {
  std::vector<float> large(512, 300.0F), alternating(512);
  for (std::size_t i = 0; i < alternating.size(); ++i) alternating[i] = 64 + static_cast<float>(i % 2);
  const Tensor rms = RMSNormalization({.dtype = "mixed_float16"})(Value(Tensor({1, 512}, large))).tensor();
  BOOST_TEST(rms.to_doubles() == std::vector<double>(512, 1));
  const Tensor of_group =
      GroupNormalization({.groups = 1, .epsilon = 0, .dtype = "mixed_bfloat16"})(Value(Tensor({1, 512}, alternating)))
          .tensor();
  for (std::size_t i = 0; i < 512; ++i) BOOST_TEST(of_group.to_doubles()[i] == (i % 2 == 0 ? -1 : 1));
  const Tensor zeros = UnitNormalization()(Value(Tensor({2, 3}))).tensor();
  BOOST_TEST(zeros.to_doubles() == std::vector<double>(6, 0));
}

// In inference, too, and without a step the estimate does not move. A kernel of zeros stays.
BOOST_AUTO_TEST_CASE(spectral_normalization_bounds_the_kernel) {
  SpectralNormalization layer(Dense(3, {.use_bias = false}), 30);
  const Value one(numbers({4, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}).cast(DType::float32));
  layer(one);
  const LayerRun run = run_layer(layer, {one.tensor()}, Tensor({4, 3}), true);
  for (const auto& [name, weight] : layer.named_weights()) {
    if (name == "vector_u") weight.assign(run.moved.at("vector_u"));
  }
  const std::vector<Tensor> before = layer.get_weights();
  const Tensor normalized = layer(one).tensor();
  BOOST_TEST(norm(Value(normalized), {.ord = 2}).item() == 1.0, boost::test_tools::tolerance(1e-5));
  for (std::size_t i = 0; i < before.size(); ++i) BOOST_TEST(layer.get_weights()[i].equal(before[i]));
  SpectralNormalization zeros(Dense(3, {.kernel_initializer = "zeros"}));
  BOOST_TEST(zeros(one).tensor().equal(Tensor({4, 3})));
  SpectralNormalization table(Embedding(5, 3));
  BOOST_TEST((table(Value(Tensor({2}, std::vector<std::int32_t>{1, 4}))).shape() == Shape{2, 3}));
}

BOOST_AUTO_TEST_CASE(tokens_and_positions_are_added) {
  TokenAndPositionEmbedding layer(7, 8, 3);
  const Value tokens(Tensor({2, 4}, std::vector<std::int32_t>{0, 6, 2, 2, 5, 1, 0, 3}));
  const Tensor y = layer(tokens, {.start_index = 2}).tensor();
  const auto weights = layer.named_weights();
  BOOST_TEST_REQUIRE(weights.size() == 2);
  BOOST_TEST(weights[0].first == "token_embedding/embeddings");
  BOOST_TEST(weights[1].first == "position_embedding/embeddings");
  const Value expected =
      gather(weights[0].second, tokens) + gather(weights[1].second, Tensor({4}, std::vector<std::int32_t>{2, 3, 4, 5}));
  BOOST_TEST(y.equal(expected.tensor()));
  BOOST_TEST((layer.token_embedding()(Value(y), {.reverse = true}).shape() == Shape{2, 4, 7}));
}

BOOST_AUTO_TEST_CASE(activity_is_penalized) {
  ActivityRegularization layer(0.5, 0.25);
  layer(Value(numbers({2, 2}, {1, -2, 0, 4}).cast(DType::float32)));
  BOOST_TEST(layer.added_loss().item() == (0.5 * 7 + 0.25 * 21) / 2);
}

// As Keras: the fans are those of the equation, not of the kernel's last axes.
BOOST_AUTO_TEST_CASE(einsum_dense_scales_by_the_fans_of_the_equation) {
  EinsumDense layer("abc,cde->abde", {-1, 50, 40}, {.kernel_initializer = "he_uniform"});
  layer(Value(Tensor({1, 2, 6})));
  const Tensor kernel = layer.get_weights()[0];
  BOOST_TEST(max(abs(Value(kernel))).item() == std::sqrt(6.0 / 6), boost::test_tools::tolerance(0.01));
}

BOOST_AUTO_TEST_CASE(reverse_products_have_their_own_dtype) {
  ReversibleEmbedding layer({.input_dim = 7, .output_dim = 3, .reverse_dtype = "float32", .dtype = "mixed_bfloat16"});
  BOOST_TEST((layer(Value(Tensor({2}, DType::int32))).dtype() == DType::bfloat16));
  BOOST_TEST((layer(Value(Tensor({2, 3})), {.reverse = true}).dtype() == DType::float32));
}

// The original context has 6.4, 1.37 and 0.3 periods of the frequencies: kept, between both, divided.
BOOST_AUTO_TEST_CASE(llama3_divides_low_frequencies) {
  RotaryEmbedding layer({.max_wavelength = 100,
                         .scaling_factor = 8,
                         .rope_type = "llama3",
                         .original_max_position_embeddings = 40,
                         .low_freq_factor = 1,
                         .high_freq_factor = 4,
                         .dtype = DType::float64});
  const Tensor x = numbers({1, 1, 6}, {1, 1, 1, 0, 0, 0}).cast(DType::float64);
  const std::vector<double> y = layer(Value(x), {.start_index = 1}).tensor().to_doubles();
  const double middle = std::pow(100, -1.0 / 3), kept = (40 * middle / (2 * std::numbers::pi) - 1) / 3;
  const double frequencies[] = {1, middle * kept + middle / 8 * (1 - kept), std::pow(100, -2.0 / 3) / 8};
  for (std::size_t i = 0; i < 3; ++i) {
    BOOST_TEST(y[i] == std::cos(frequencies[i]), boost::test_tools::tolerance(1e-12));
    BOOST_TEST(y[i + 3] == std::sin(frequencies[i]), boost::test_tools::tolerance(1e-12));
  }
  BOOST_TEST(refused<ValueError>([] { RotaryEmbedding({.low_freq_factor = 4}); }) ==
             "[RotaryEmbedding] high_freq_factor must be above 4; got 4");
}

BOOST_AUTO_TEST_CASE(bad_options_and_inputs_are_refused) {
  const Value x(Tensor({2, 3, 4}));
  const auto value = [](auto f) { return refused<ValueError>(f); };
  const auto shape = [](auto f) { return refused<ShapeError>(f); };
  BOOST_TEST(value([&] { Average()({x}); }) == "[Average] takes at least two inputs; got 1");
  BOOST_TEST(value([&] { Subtract()({x, x, x}); }) == "[Subtract] takes two inputs; got 3");
  BOOST_TEST(shape([&] {
               Maximum()({x, Tensor({2, 3, 5})});
             }) == "[Maximum] shapes must be equal or 1 on axis -1; got (2, 3, 4) and (2, 3, 5)");
  BOOST_TEST(value([] { Dot(); }) == "[Dot] axes must be one or two numbers; got 0");
  BOOST_TEST(value([&] { Dot({0, 1})({x, x}); }) == "[Dot] axes must not be 0, the batch; got (0, 1)");
  BOOST_TEST(shape([&] {
               Dot({1, 2})({x, x});
             }) ==
             "[Dot] inputs must have one batch size and one size along the axes 1 and 2; got (2, 3, 4) and (2, 3, 4)");
  BOOST_TEST(value([&] { PReLU({.shared_axes = 3})(x); }) == "[PReLU] shared_axes must lie in [1, 3); got 3");
  BOOST_TEST(value([] { Softmax({.axis = detail::Ints()}); }) == "[Softmax] axis must be one number or more; got none");
  BOOST_TEST(shape([&] {
               Softmax()(x, {.mask = Tensor({2, 4})});
             }) == "[Softmax] the mask must broadcast to the input (2, 3, 4); got shape (2, 4)");
  BOOST_TEST(value([] { GroupNormalization(0); }) == "[GroupNormalization] groups must be at least 1, or -1; got 0");
  BOOST_TEST(shape([&] { GroupNormalization(3)(x); }) ==
             "[GroupNormalization] input axis 2 must be a multiple of groups (3); got shape (2, 3, 4)");
  BOOST_TEST(value([&] { GroupNormalization({.groups = 1, .axis = 0})(x); }) ==
             "[GroupNormalization] axis must not be 0, the batch; got 0");
  BOOST_TEST(value([] { RMSNormalization({.epsilon = -1}); }) ==
             "[RMSNormalization] epsilon must not be negative; got -1");
  BOOST_TEST(shape([&] { UnitNormalization({.axis = 3})(x); }).find("3") != std::string::npos);
  BOOST_TEST(value([] { SpectralNormalization(); }) == "[SpectralNormalization] layer is required; got none");
  BOOST_TEST(value([] { SpectralNormalization(Dense(2), 0); }) ==
             "[SpectralNormalization] power_iterations must be at least 1; got 0");
  BOOST_TEST(value([&] { SpectralNormalization(layers::ReLU{})(x); }) ==
             "[SpectralNormalization] the layer must have a weight \"kernel\" or \"embeddings\"; got a ReLU without");
  BOOST_TEST(value([] { ActivityRegularization(-1); }) ==
             "[ActivityRegularization] l1 must be a number of at least 0; got -1");
  BOOST_TEST(value([] { EinsumDense("ab,bc", 3); }) ==
             "[EinsumDense] equation must be of the form \"ab,bc->ac\", \"...b,bc->...c\" or \"ab...,bc->ac...\", "
             "without repeated letters in a part; got \"ab,bc\"");
  BOOST_TEST(value([] { EinsumDense("ab,bd->ac", 3); }) ==
             "[EinsumDense] the letter 'd' of the kernel must be one of the input or the output; got \"ab,bd->ac\"");
  BOOST_TEST(value([] { EinsumDense("ab,bc->ac", 3, {.bias_axes = "b"}); }) ==
             "[EinsumDense] bias_axes must be letters of the output \"ac\"; got \"b\"");
  BOOST_TEST(value([] {
               EinsumDense("ab,bc->ac", {3, 4});
             }) == "[EinsumDense] output_shape must have the sizes of the output \"ac\" after the batch; got (3, 4)");
  BOOST_TEST(shape([&] { EinsumDense("ab,bc->ac", 3)(x); }) ==
             "[EinsumDense] input must have the axes \"ab\"; got shape (2, 3, 4)");
  BOOST_TEST(value([] { ReversibleEmbedding(0, 3); }) == "[ReversibleEmbedding] input_dim must be at least 1; got 0");
  BOOST_TEST(refused<DTypeError>([] { ReversibleEmbedding(2, 3, {.reverse_dtype = "int32"}); }) ==
             "[ReversibleEmbedding] reverse_dtype must be floating; got int32");
  BOOST_TEST(refused<NameError>([] { RotaryEmbedding({.rope_type = "longrope"}); }) ==
             "[RotaryEmbedding] unknown rope_type \"longrope\"; valid names: dynamic, linear, llama3, yarn");
  BOOST_TEST(shape([] {
               RotaryEmbedding()(Value(Tensor({2, 3, 5})));
             }) == "[RotaryEmbedding] input axis 2 must have an even size; got shape (2, 3, 5)");
  BOOST_TEST(value([&] { RotaryEmbedding()(x, {.start_index = -1}); }) ==
             "[RotaryEmbedding] start_index must not be negative; got -1");
  BOOST_TEST(shape([&] { SinePositionEncoding()(x, {.positions = Tensor({4})}); }) ==
             "[SinePositionEncoding] positions must be (steps,) or (batch, steps) with 3 steps; got shape (4,)");
  BOOST_TEST(shape([&] { PositionEmbedding(4)(x, {.start_index = 2}); }) ==
             "[PositionEmbedding] positions 2 to 4 must lie below sequence_length (4); got shape (2, 3, 4)");
}

BOOST_AUTO_TEST_SUITE_END()
