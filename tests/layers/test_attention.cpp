// Attention, AdditiveAttention, GroupedQueryAttention, and MultiHeadAttention with scores, masks and several axes.
#include <mezzo/mezzo.hpp>

#include "layers/masked.hpp"
#include "support/folder.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

void check_attention_layer(const std::string& name, const AttentionOptions& options, bool scores = false,
                           bool causal = false) {
  check_masked<Attention>(
      name, [&] { return Attention(options); },
      [&](Attention& layer, const Values& xs) -> Values {
        const AttentionLayerCallOptions call{.use_causal_mask = causal};
        if (!scores) return {layer(xs, call)};
        const auto [output, weights] = layer.with_scores(xs, call);
        return {output, weights};
      });
}

// With scores, then with the fused op and without: the outputs are equal.
template <class L, class Options>
void check_heads(const std::string& name, const Options& options, AttentionCallOptions call = {}, bool masked = false) {
  if (masked) {
    Tensor mask = floats({2, 3, 4}, {1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 0, 0});
    if (name == "heads_second_axis") mask = mask.reshape({2, 1, 3, 4});
    call.attention_mask = mask.cast(DType::boolean);
  }
  check_masked<L>(
      name, [&] { return L(options); },
      [&](L& layer, const Values& xs) -> Values {
        const auto [output, weights] = layer.with_scores(xs[0], xs[1], call);
        const double tolerance = xs[0].dtype() == DType::float64 ? 1e-12 : 2e-5;
        BOOST_TEST(largest_difference(layer(xs[0], xs[1], call).tensor(), output.tensor()) <= tolerance);
        return {output, weights};
      });
}

Tensor ramp(const Shape& shape) {
  Tensor out(shape, DType::float32);
  for (std::int64_t i = 0; i < out.size(); ++i) out.mutable_data<float>()[i] = static_cast<float>(i % 7) / 4 - 0.75F;
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(attention)

BOOST_AUTO_TEST_CASE(attention_equals_keras) {
  check_attention_layer("attention", {}, true);
  check_attention_layer("attention_scale", {.use_scale = true}, true, true);
  check_attention_layer("attention_concat", {.score_mode = "concat"});
  check_attention_layer("attention_concat_scale", {.use_scale = true, .score_mode = "concat"});
  for (const bool use_scale : {true, false}) {
    check_masked<AdditiveAttention>(
        use_scale ? "additive_attention" : "additive_attention_without_scale",
        [&] { return AdditiveAttention({.use_scale = use_scale}); },
        [&](AdditiveAttention& layer, const Values& xs) -> Values {
          if (!use_scale) return {layer(xs)};
          const auto [output, weights] = layer.with_scores(xs);
          return {output, weights};
        });
  }
}

BOOST_AUTO_TEST_CASE(heads_equal_keras) {
  const MultiHeadAttentionOptions heads{.num_heads = 2, .key_dim = 3};
  check_heads<MultiHeadAttention>("heads", heads);
  check_heads<MultiHeadAttention>("heads_all_masked", heads);
  check_heads<MultiHeadAttention>(
      "heads_gate",
      MultiHeadAttentionOptions{.num_heads = 2, .key_dim = 3, .value_dim = 4, .output_shape = {2, 3}, .use_gate = true},
      {}, true);
  check_heads<MultiHeadAttention>("heads_window",
                                  MultiHeadAttentionOptions{.num_heads = 2, .key_dim = 3, .sliding_window = 2},
                                  {.use_causal_mask = true});
  check_heads<MultiHeadAttention>("heads_two_axes", heads);
  check_heads<MultiHeadAttention>(
      "heads_second_axis", MultiHeadAttentionOptions{.num_heads = 2, .key_dim = 3, .attention_axes = 2}, {}, true);
  check_heads<MultiHeadAttention>("heads_first_axis",
                                  MultiHeadAttentionOptions{.num_heads = 2, .key_dim = 3, .attention_axes = 1},
                                  {.use_causal_mask = true});
  const GroupedQueryAttentionOptions groups{.head_dim = 3, .num_query_heads = 4, .num_key_value_heads = 2};
  check_heads<GroupedQueryAttention>("groups", groups);
  check_heads<GroupedQueryAttention>("groups_gate",
                                     GroupedQueryAttentionOptions{.head_dim = 3,
                                                                  .num_query_heads = 4,
                                                                  .num_key_value_heads = 2,
                                                                  .use_bias = false,
                                                                  .sliding_window = 2,
                                                                  .use_gate = true},
                                     {.use_causal_mask = true}, true);
}

// All values masked: Keras' weights are those without a mask in float64, nearly uniform in float32. Here they are those
// without a mask, up to rounding of scores - 3e4.
BOOST_AUTO_TEST_CASE(all_masked_values_give_finite_results) {
  const nlohmann::json& expected = recorded("masks").at("attention_all_masked");
  for (const DType dtype : {DType::float64, DType::float32}) {
    const detail::PolicyScope policy{Policy(dtype)};
    Values xs;
    for (std::size_t i = 0; i < 2; ++i) {
      xs.push_back(Value(recorded_tensor(expected.at("inputs")[i]).cast(dtype))
                       .with_mask(recorded_tensor(expected.at("masks")[i]).cast(DType::boolean)));
    }
    const Tensor y = Attention()(xs).tensor();
    BOOST_TEST(largest_difference(y, recorded_tensor(expected.at("outputs")[0])) <=
               (dtype == DType::float64 ? 1e-6 : 4e-3));
  }
}

BOOST_AUTO_TEST_CASE(explicit_masks_override) {
  const Value x = ramp({2, 3, 4});
  const Value mask = floats({2, 3}, {1, 1, 0, 1, 0, 0}).cast(DType::boolean);
  const Value none = floats({2, 3}, {1, 1, 1, 1, 1, 1}).cast(DType::boolean);
  MultiHeadAttention layer(2, 2);
  const Tensor masked = layer(x.with_mask(mask), x.with_mask(mask)).tensor();
  BOOST_TEST(layer(x, x, {.query_mask = mask, .value_mask = mask}).tensor().equal(masked));
  BOOST_TEST(layer(x, x, {.query_mask = mask, .key_mask = mask}).tensor().equal(masked));
  BOOST_TEST(!layer(x, x).tensor().equal(masked));
  const Value all = x.with_mask(mask);
  BOOST_TEST(largest_difference(layer(all, all, {.query_mask = none, .value_mask = none, .key_mask = none}).tensor(),
                                layer(x, x).tensor()) <= 1e-6);
  BOOST_TEST(layer(all, all).mask().tensor().equal(mask.tensor()));
  Attention dot;
  BOOST_TEST(dot({x, x}, {.mask = {mask, mask}}).tensor().equal(dot({all, all}).tensor()));
}

BOOST_AUTO_TEST_CASE(flash_attention_and_dropout) {
  const Value x = ramp({2, 3, 4});
  MultiHeadAttention plain({.num_heads = 2, .key_dim = 2, .flash_attention = false});
  MultiHeadAttention flash({.num_heads = 2, .key_dim = 2, .flash_attention = true});
  plain(x, x);
  flash(x, x);
  flash.set_weights(plain.get_weights());
  BOOST_TEST(largest_difference(plain(x, x).tensor(), flash(x, x).tensor()) <= 1e-6);
  BOOST_TEST(refused<ValueError>([&] { flash.with_scores(x, x); }) ==
             "[MultiHeadAttention] with_scores: flash_attention must not be true, since it doesn't store the scores");
  BOOST_TEST(refused<ValueError>([] {
               MultiHeadAttention({.num_heads = 2, .key_dim = 2, .dropout = 0.5, .flash_attention = true});
             }) == "[MultiHeadAttention] flash_attention must not be true with a dropout; got dropout 0.5");
  // The scores are those before dropout.
  Attention dropped({.dropout = 0.5});
  const auto run = [&](bool training) {
    Trace trace(Trace::Mode::eager, training);
    const Value input = trace.input("x", x.tensor());
    const auto [y, scores] = dropped.with_scores({input, input});
    return std::make_pair(y.tensor(), scores.tensor());
  };
  BOOST_TEST(!run(true).first.equal(run(false).first));
  BOOST_TEST(run(true).second.equal(run(false).second));
}

BOOST_AUTO_TEST_CASE(low_precision) {
  const Tensor x = ramp({2, 5, 8}), mask = floats({2, 5}, {1, 1, 1, 0, 0, 0, 0, 0, 0, 0}).cast(DType::boolean);
  for (const char* name : {"mixed_bfloat16", "mixed_float16"}) {
    const double tolerance = std::string(name) == "mixed_bfloat16" ? 0.06 : 0.008;
    const auto check = [&](auto make, auto call) {
      auto exact = make(Policy("float32")), low = make(Policy(name));
      const Value input = Value(x).with_mask(mask);
      const Tensor wanted = call(exact, input).tensor();
      call(low, input);
      low.set_weights(exact.get_weights());
      const Value got = call(low, input);
      BOOST_TEST((got.dtype() == Policy(name).compute_dtype()));
      BOOST_TEST(largest_difference(got.tensor().cast(DType::float32), wanted) <= tolerance, name);
    };
    const auto self = [](auto& layer, const Value& v) { return layer(v, v); };
    const auto listed = [](auto& layer, const Value& v) { return layer(Values{v, v}); };
    check([](const Policy& p) { return Attention({.use_scale = true, .dtype = p}); }, listed);
    check([](const Policy& p) { return AdditiveAttention({.dtype = p}); }, listed);
    check(
        [](const Policy& p) {
          return MultiHeadAttention({.num_heads = 2, .key_dim = 4, .use_gate = true, .dtype = p});
        },
        self);
    check(
        [](const Policy& p) {
          return GroupedQueryAttention({.head_dim = 4, .num_query_heads = 4, .num_key_value_heads = 1, .dtype = p});
        },
        self);
    check([](const Policy& p) { return MultiHeadAttention({.num_heads = 2, .key_dim = 4, .dtype = p}); },
          [](auto& layer, const Value& v) { return layer.with_scores(v, v).output; });
  }
}

// Functional models with scores, explicit masks and causal masks, saved and loaded.
BOOST_AUTO_TEST_CASE(are_saved) {
  const Folder folder;
  Input q({3, 4}), v({3, 4}), mask({3}, {.dtype = "bool"});
  const auto [y, scores] = MultiHeadAttention(2, 2).with_scores(q, v, {.value_mask = mask, .use_causal_mask = true});
  const Value dot = Attention({.score_mode = "concat"})({q, v}, {.mask = {Value(), mask}});
  const Value group = GroupedQueryAttention({.head_dim = 2, .num_query_heads = 2, .num_key_value_heads = 1})(q, v);
  const Value additive = AdditiveAttention()({q, v});
  Model model({q, v, mask}, {y, scores, layers::add({dot, group, additive})});
  const std::vector<Tensor> x{ramp({2, 3, 4}), ramp({2, 3, 4}),
                              floats({2, 3}, {1, 1, 0, 1, 0, 1}).cast(DType::boolean)};
  const Tensors before = model.predict_all(x);
  model.save(folder.path("model"));
  const Tensors after = load_model(folder.path("model"))->predict_all(x);
  BOOST_TEST_REQUIRE(after.size() == before.size());
  for (std::size_t i = 0; i < after.size(); ++i) BOOST_TEST(after[i].equal(before[i]));
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  const Value x = ramp({1, 2, 4});
  BOOST_TEST(refused<NameError>([] { Attention({.score_mode = "dott"}); }).find("score_mode \"dott\"") !=
             std::string::npos);
  BOOST_TEST(refused<ValueError>([] { AdditiveAttention({.dropout = 1}); }) ==
             "[AdditiveAttention] dropout must lie in [0, 1); got 1");
  BOOST_TEST(refused<ValueError>([&] { Attention()({x}); }) ==
             "[Attention] takes 2 or 3 inputs (query, value, key); got 1");
  BOOST_TEST(refused<ShapeError>([&] {
               Attention()({x, ramp({1, 2, 3})});
             }) == "[Attention] the key's last axis must be that of the query, 4; got shape (1, 2, 3)");
  BOOST_TEST(refused<ValueError>([&] {
               Attention()({x, x}, {.mask = {Value(), Value(), Value()}});
             }) == "[Attention] number of masks must be at most that of the inputs, 2; got 3");
  BOOST_TEST(refused<ValueError>([] {
               GroupedQueryAttention({.head_dim = 2, .num_query_heads = 3, .num_key_value_heads = 2});
             }) == "[GroupedQueryAttention] num_query_heads must be a multiple of num_key_value_heads, 2; got 3");
  BOOST_TEST(
      refused<ValueError>([&] { MultiHeadAttention({.num_heads = 1, .key_dim = 2, .attention_axes = 2})(x, x); }) ==
      "[MultiHeadAttention] attention_axes must be different axes between the batch and the last one, 1 to 1; got "
      "(2)");
  BOOST_TEST(
      refused<ShapeError>([&] {
        MultiHeadAttention(1, 2)(ramp({1, 2, 2, 4}), ramp({1, 2, 2, 4}), {.use_causal_mask = true});
      }) ==
      "[MultiHeadAttention] use_causal_mask needs one axis of positions; got attention over 2 axes of shape (1, 2, "
      "2, 4)");
}

BOOST_AUTO_TEST_SUITE_END()
