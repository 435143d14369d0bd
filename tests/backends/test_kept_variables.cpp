// Updates of variables that are not simply rounded to their dtype (split, Kahan, stochastic), and of bfloat16 slots.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <set>
#include <string>

#include <mezzo/backends/common/update_request.hpp>
#include <mezzo/core/split_float.hpp>
#include <mezzo/ops/update_rules.hpp>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Rule {
  const char* op;
  std::size_t slots;
  Attributes attributes;
  double lowest = -1;  // of the first slot
};

Rule general(const char* name, std::size_t slots, double lowest, const Attributes& numbers) {
  Rule rule{"optimizer_update",
            slots,
            {{"rule", std::string(name)},
             {"slots", static_cast<std::int64_t>(slots)},
             {"weight_decay", 0.01},
             {"clipvalue", 0.5}},
            lowest};
  for (const auto& [key, value] : numbers.entries()) rule.attributes.set(key, value);
  return rule;
}

const Attributes moments{{"beta_1", 0.9}, {"beta_2", 0.999}, {"epsilon", 1e-7}};

Attributes with_momentum(double momentum, bool centered) {
  return {{"rho", 0.9}, {"momentum", momentum}, {"epsilon", 2.0}, {"centered", centered}};
}

const Attributes ftrl{{"learning_rate_power", -0.5}, {"l1", 0.1}, {"l2", 0.2}, {"shrinkage", 0.01}, {"beta", 0.1}};

const std::vector<Rule> rules{
    {"sgd_update", 0, {{"momentum", 0.0}, {"weight_decay", 0.01}, {"clipvalue", 0.5}, {"nesterov", false}}},
    {"sgd_update", 1, {{"momentum", 0.9}, {"weight_decay", 0.0}, {"clipvalue", 0.0}, {"nesterov", true}}},
    {"adam_update",
     2,
     {{"beta_1", 0.9}, {"beta_2", 0.999}, {"epsilon", 1e-7}, {"weight_decay", 0.01}, {"clipvalue", 0.0}}},
    general("accumulate", 0, 0, {}),
    general("average", 0, 0, {{"momentum", 0.7}}),
    general("adadelta", 2, 0, {{"rho", 0.9}, {"epsilon", 1e-7}}),
    general("adagrad", 1, 0, {{"epsilon", 1e-7}}),
    general("adamax", 2, -1, moments),
    general("amsgrad", 3, -1, moments),
    general("ftrl", 2, 0, ftrl),
    general("lion", 1, -1, {{"beta_1", 0.9}, {"beta_2", 0.99}}),
    general("nadam", 2, -1, moments),
    general("rmsprop", 1, 0, with_momentum(0, false)),
    general("rmsprop", 2, 0, with_momentum(0.5, false)),
    general("rmsprop", 2, 0, with_momentum(0, true)),
    general("rmsprop", 3, 0, with_momentum(0.5, true)),
    general("schedule_free_adamw", 2, -1,
            {{"beta_1", 0.9}, {"beta_2", 0.999}, {"epsilon", 1e-7}, {"warmup_steps", 10.0}})};

// Read everything twice; their sums of squares are in double, in different orders.
const std::vector<Rule> rules_with_norms{
    general("lamb", 2, -1, moments),
    general(
        "lars", 1, -1,
        {{"momentum", 0.9}, {"nesterov", true}, {"epsilon", 1e-8}, {"trust", 0.1}, {"decay", 0.1}, {"adapts", true}})};

struct Way {
  detail::Kept kept;
  DType variable;
};

const std::vector<Way> ways{{detail::Kept::plain, DType::float32},      {detail::Kept::plain, DType::bfloat16},
                            {detail::Kept::plain, DType::float16},      {detail::Kept::split, DType::bfloat16},
                            {detail::Kept::kahan, DType::bfloat16},     {detail::Kept::kahan, DType::float16},
                            {detail::Kept::stochastic, DType::bfloat16}};

struct Call {
  Attributes attributes;
  std::vector<Tensor> inputs;
};

Call call_of(const Rule& rule, const Way& kept, DType slot, const Shape& shape, double rate = 0.01) {
  Call call{rule.attributes, {random_tensor(shape, kept.variable, 1)}};
  call.inputs.push_back(random_tensor(shape, kept.kept == detail::Kept::split ? DType::float32 : kept.variable, 2));
  for (std::size_t i = 0; i < rule.slots; ++i) {
    call.inputs.push_back(random_tensor(shape, slot, 3 + i, i == 0 ? rule.lowest : 0));
  }
  if (kept.kept != detail::Kept::plain) call.attributes.set("kept", kept.kept);
  if (kept.kept == detail::Kept::split) call.inputs.push_back(random_tensor(shape, DType::int16, 7, -0x8000, 0x8000));
  if (kept.kept == detail::Kept::kahan) call.inputs.push_back(random_tensor(shape, kept.variable, 7, -1e-3, 1e-3));
  call.inputs.push_back(float64_scalar(rate));
  if (rule.op != std::string("sgd_update")) call.inputs.push_back(float64_scalar(3));
  call.inputs.push_back(float64_scalar(0.75));
  if (kept.kept == detail::Kept::stochastic || (slot == DType::bfloat16 && rule.slots > 0)) {
    call.attributes.set("key", std::int64_t{77});
    call.inputs.push_back(float64_scalar(5));
    call.inputs.push_back(float64_scalar(3));
  }
  return call;
}

/// Checks that every ISA gives the same bits as the reference, on any number of threads.
void check_exact(const std::string& op, const Call& call) {
  const KernelRequest request = kernel_request(op, call.attributes, call.inputs);
  const auto expected = run_reference(op, call.attributes, call.inputs);
  BOOST_TEST_CONTEXT(op << " " << call.attributes.to_string() << " " << call.inputs[0].describe()) {
    for_each_isa([&](Isa isa) { check_xsimd_on(isa, request, call.inputs, expected, 0); });
  }
}

template <class Body>
void for_each_call(const Body& body) {
  for (const Rule& rule : rules) {
    for (const Way& kept : ways) {
      for (const DType slot : {DType::float32, DType::bfloat16}) {
        if (slot == DType::float32 || rule.slots > 0) body(rule, kept, slot);
      }
    }
  }
}

Tensor joined(const Tensor& high, const Tensor& low) { return run_reference("join_master", {}, {high, low})[0]; }

}  // namespace

BOOST_AUTO_TEST_SUITE(kept_variables)

BOOST_AUTO_TEST_CASE(every_rule_of_the_table_has_a_case) {
  std::set<std::string> tested, all;
  for (const std::vector<Rule>* some : {&rules, &rules_with_norms}) {
    for (const Rule& rule : *some) {
      if (rule.op == std::string("optimizer_update")) tested.insert(rule.attributes.get<std::string>("rule"));
    }
  }
#define MEZZO_UPDATE_RULE(name, Formula, norms) all.insert(#name);
#include <mezzo/ops/rows/update_rules.def>
#undef MEZZO_UPDATE_RULE
  BOOST_TEST(tested == all, boost::test_tools::per_element());
  for (const Rule& rule : rules_with_norms) {
    BOOST_TEST((rule_norms(rule.attributes.get<std::string>("rule")) != RuleNorms::none));
  }
}

BOOST_AUTO_TEST_CASE(every_instruction_set_gives_the_references_bits) {
  for_each_call([](const Rule& rule, const Way& kept, DType slot) {
    for (const std::int64_t size : {1, 7, 65, 1003}) check_exact(rule.op, call_of(rule, kept, slot, {size}));
  });
}

BOOST_AUTO_TEST_CASE(rules_with_norms_give_the_references_bits) {
  for (const Rule& rule : rules_with_norms) {
    for (const Way& kept : ways) {
      for (const std::int64_t size : {1, 65, 1003}) {
        check_exact(rule.op, call_of(rule, kept, DType::float32, {size}));
      }
    }
  }
  check_exact("optimizer_update", call_of(rules_with_norms[0], ways[0], DType::float32, {shared_size}));
}

// A NaN or an infinity reaches the variable: clipping does not turn a NaN into the bound.
BOOST_AUTO_TEST_CASE(special_gradients_give_the_references_values) {
  for_each_call([](const Rule& rule, const Way& kept, DType slot) {
    if (kept.kept != detail::Kept::plain || slot != DType::float32) return;
    for (const double clipvalue : {0.0, 0.5}) {
      Call call = call_of(rule, kept, slot, {21});
      call.attributes.set("clipvalue", clipvalue);
      std::vector<double> g = call.inputs[1].to_doubles();
      g[1] = NAN;
      g[10] = INFINITY;
      g[20] = -INFINITY;
      call.inputs[1] = Tensor({21}, g).cast(call.inputs[1].dtype());
      const auto expected = run_reference(rule.op, call.attributes, call.inputs);
      const KernelRequest request = kernel_request(rule.op, call.attributes, call.inputs);
      BOOST_TEST_CONTEXT(rule.op << " " << call.attributes.to_string() << " " << call.inputs[0].describe()) {
        BOOST_TEST(std::isnan(expected[0].to_doubles()[1]));
        for_each_isa([&](Isa isa) {
          std::string reason;
          const auto out = run_kernel(*xsimd_kernel(request, isa, reason), request, call.inputs);
          for (std::size_t i = 0; i < out.size(); ++i) {
            const std::vector<double> a = out[i].to_doubles(), b = expected[i].to_doubles();
            for (std::size_t k = 0; k < a.size(); ++k) {
              BOOST_TEST((a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k]))),
                         "output " << i << ", element " << k << ": " << a[k] << ", reference " << b[k]);
            }
          }
        });
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(shared_by_threads) {
  for (const Way& kept : ways) check_exact("adam_update", call_of(rules[2], kept, DType::bfloat16, {shared_size}));
}

BOOST_AUTO_TEST_CASE(compact_gradients_give_the_same_bits) {
  const Shape shape{50, 70};
  for_each_call([&](const Rule& rule, const Way& kept, DType slot) {
    const Call dense = call_of(rule, kept, slot, shape);
    Call compact = dense;
    compact.attributes.set("compact", true);
    const Tensor places({50}, [] {
      std::vector<std::int32_t> out(50, -1);
      for (std::size_t i = 0; i < 9; ++i) out[5 * i] = 8 - static_cast<std::int32_t>(i);
      return out;
    }());
    compact.inputs[1] = dense.inputs[1].slice(0, 9);
    compact.inputs.push_back(places);
    check_exact(rule.op, compact);
    std::vector<Tensor> whole = dense.inputs;
    whole[1] = Tensor(shape, dense.inputs[1].dtype());
    const auto row = dense.inputs[1].bytes() / 50;
    for (std::size_t i = 0; i < 50; ++i) {
      const std::int32_t place = places.data<std::int32_t>()[i];
      if (place < 0) continue;
      std::memcpy(static_cast<char*>(whole[1].mutable_raw()) + i * row,
                  static_cast<const char*>(compact.inputs[1].raw()) + static_cast<std::size_t>(place) * row, row);
    }
    BOOST_TEST(all_equal(run_reference(rule.op, compact.attributes, compact.inputs),
                         run_reference(rule.op, dense.attributes, whole)));
  });
}

BOOST_AUTO_TEST_CASE(a_split_master_is_updated_like_a_float32_variable) {
  std::vector<Rule> all = rules;
  all.insert(all.end(), rules_with_norms.begin(), rules_with_norms.end());
  for (const Rule& rule : all) {
    for (const DType slot : {DType::float32, DType::bfloat16}) {
      if (slot == DType::bfloat16 && rule.slots == 0) continue;
      const Call split = call_of(rule, {detail::Kept::split, DType::bfloat16}, slot, {1003});
      Call whole = call_of(rule, {detail::Kept::plain, DType::float32}, slot, {1003});
      whole.inputs[0] = joined(split.inputs[0], split.inputs[2 + rule.slots]);
      const auto a = run_reference(rule.op, split.attributes, split.inputs);
      const auto b = run_reference(rule.op, whole.attributes, whole.inputs);
      BOOST_TEST(joined(a[0], a[1 + rule.slots]).equal(b[0]));
      for (std::size_t i = 1; i <= rule.slots; ++i) BOOST_TEST(a[i].equal(b[i]));
    }
  }
}

BOOST_AUTO_TEST_CASE(masters_are_split_and_joined_exactly) {
  const Tensor whole = random_tensor({1003}, DType::float32, 1, -1e3, 1e3);
  const Tensor special({6}, std::vector<float>{0.0F, -0.0F, 0x1p-149F, INFINITY, 3.40282347e38F, NAN});
  for (const Tensor& x : {whole, special, random_tensor({shared_size})}) {
    const auto halves = run_reference("split_master", {}, {x});
    if (&x != &special) BOOST_TEST(halves[0].equal(x.cast(DType::bfloat16)));
    BOOST_TEST(largest_difference(joined(halves[0], halves[1]), x) == 0);
    for (const auto& [op, inputs] :
         {std::pair<const char*, std::vector<Tensor>>{"split_master", {x}}, {"join_master", {halves[0], halves[1]}}}) {
      check_exact(op, {{}, inputs});
    }
  }
}

BOOST_AUTO_TEST_CASE(kahan_summation_keeps_rounding_errors) {
  // In bfloat16 the neighbours of 1 are 1/256 below and 1/128 above it; 0.001 is less than half of both distances.
  const Attributes plain{{"momentum", 0.0}, {"weight_decay", 0.0}, {"clipvalue", 0.0}, {"nesterov", false}};
  const Attributes kahan = with_attribute(plain, "kept", detail::Kept::kahan);
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    const double step = dtype == DType::bfloat16 ? 0.001 : 0.0001;
    const Tensor g = Tensor::scalar(-1, dtype);
    Tensor rounded = Tensor::scalar(1, dtype), w = rounded, lost = Tensor::scalar(0, dtype);
    for (int i = 0; i < 1000; ++i) {
      rounded = run_reference("sgd_update", plain, {rounded, g, float64_scalar(step), float64_scalar(1)})[0];
      const auto out = run_reference("sgd_update", kahan, {w, g, lost, float64_scalar(step), float64_scalar(1)});
      w = out[0];
      lost = out[1];
    }
    BOOST_TEST(rounded.item() == 1);
    BOOST_TEST(std::abs(w.item() - (1 + 1000 * step)) < 0.01);
  }
}

BOOST_AUTO_TEST_CASE(stochastic_rounding_is_right_on_average) {
  for (const float x : {1.0F, 1.001F, -0.37F, 3e-39F, 1e30F}) {
    double sum = 0;
    for (std::uint32_t word = 0; word < 0x10000; ++word) sum += static_cast<float>(round_stochastically(x, word));
    BOOST_TEST(sum / 0x10000 == static_cast<double>(x), boost::test_tools::tolerance(1e-12));
  }
  BOOST_TEST(std::isinf(static_cast<float>(round_stochastically(INFINITY, 0xffff))));
  BOOST_TEST(std::isnan(static_cast<float>(round_stochastically(NAN, 0xffff))));
}

BOOST_AUTO_TEST_CASE(random_words_depend_on_key_seed_step_and_slot) {
  const Shape shape{512};
  const Call call = call_of(rules[2], {detail::Kept::stochastic, DType::bfloat16}, DType::bfloat16, shape);
  const auto out = run_reference("adam_update", call.attributes, call.inputs);
  const std::size_t seed = call.inputs.size() - 2;
  for (const std::size_t input : {seed, seed + 1}) {
    std::vector<Tensor> inputs = call.inputs;
    inputs[input] = float64_scalar(8);
    const auto other = run_reference("adam_update", call.attributes, inputs);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(!other[i].equal(out[i]));
  }
  const Attributes attributes = with_attribute(call.attributes, "key", std::int64_t{78});
  const auto other = run_reference("adam_update", attributes, call.inputs);
  for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(!other[i].equal(out[i]));
  // Both slots become 0.3, which is no bfloat16; they are rounded with different words.
  const Attributes same_betas{{"beta_1", 0.7},       {"beta_2", 0.7},    {"epsilon", 1e-7},
                              {"weight_decay", 0.0}, {"clipvalue", 0.0}, {"key", std::int64_t{1}}};
  const Tensor ones(shape, std::vector<float>(512, 1)), zeros(shape, DType::bfloat16);
  const auto slots = run_reference("adam_update", same_betas,
                                   {ones, ones, zeros, zeros, float64_scalar(0.01), float64_scalar(1),
                                    float64_scalar(1), float64_scalar(1), float64_scalar(1)});
  int alike = 0;
  for (std::size_t i = 0; i < 512; ++i) alike += slots[1].to_doubles()[i] == slots[2].to_doubles()[i] ? 1 : 0;
  BOOST_TEST(alike > 128);
  BOOST_TEST(alike < 384);
}

BOOST_AUTO_TEST_CASE(widening_would_round_to_nearest) {
  for (const Way& kept : {ways[3], ways[4], ways[6]}) {
    const Call call = call_of(rules[2], kept, DType::float32, {4});
    BOOST_TEST(run_kernel("widen", "adam_update", call.attributes, call.inputs)
                   .declined.find("takes updates that round to nearest; got ") == 0U);
  }
}

BOOST_AUTO_TEST_SUITE_END()
