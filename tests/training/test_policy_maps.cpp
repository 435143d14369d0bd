#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

class Block : public Layer {
 public:
  explicit Block(const Policy& policy) : Layer("Block", Options{"", policy}) {}

 protected:
  Value call(const Value& x) override { return second_(first_(x)); }

 private:
  struct Options {
    std::string name;
    Policy dtype;
  };
  Dense first_ = sub("first", Dense({.units = 4}));
  Dense second_ = sub("second", Dense({.units = 4}));
};

struct Outcome {
  std::map<std::string, std::string> compute;
  std::map<std::string, std::string> variables;
};

// Dtypes of a model's layers after training under a Trainer's precision.
Outcome train(const Policy& block, const Precision& precision) {
  Sequential model({Block(block), Dense({.units = 3})});
  model.compile(
      {.optimizer = SGD({.learning_rate = 0.1}), .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  const Dataset data = Dataset::from_tensors(
      {{"x", random_tensor({4, 5})}, {"y", Tensor({4}, std::vector<std::int64_t>{0, 1, 2, 0}), Role::target}});
  Trainer({.max_epochs = 1, .precision = precision, .enable_progress_bar = false})
      .fit(model, DataLoader(data, {.batch_size = 4}));
  Outcome out;
  for (const char* path : {"block/first", "block/second", "dense"}) {
    out.compute[path] = dtype_name(model.get_layer(path).compute_dtype());
  }
  for (const auto& [path, weight] : model.named_weights()) out.variables[path] = dtype_name(weight.dtype());
  return out;
}

using Names = std::map<std::string, std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(policy_maps)

BOOST_AUTO_TEST_CASE(of_the_trainer) {
  const PolicyMap map(
      {.default_policy = "mixed_bfloat16", .policies = {{"dense", "float32"}, {"block/s.*", "bfloat16"}}});
  const Outcome out = train({}, map);
  BOOST_TEST((out.compute == Names{{"block/first", "bfloat16"}, {"block/second", "bfloat16"}, {"dense", "float32"}}));
  BOOST_TEST(out.variables.at("block/first/kernel") == "float32");
  BOOST_TEST(out.variables.at("block/second/kernel") == "bfloat16");
}

BOOST_AUTO_TEST_CASE(of_a_container_count_from_there_and_win) {
  const PolicyMap map({.policies = {{"second", "float64"}}});
  const Outcome out = train(map, "bf16");
  BOOST_TEST((out.compute == Names{{"block/first", "bfloat16"}, {"block/second", "float64"}, {"dense", "bfloat16"}}));
  BOOST_TEST(out.variables.at("block/second/kernel") == "float64");
}

BOOST_AUTO_TEST_CASE(of_all_layers) {
  set_dtype_policy(PolicyMap({.policies = {{"dense", "float64"}}}));
  const Outcome out = train({}, {});
  set_dtype_policy({});
  BOOST_TEST((out.compute == Names{{"block/first", "float32"}, {"block/second", "float32"}, {"dense", "float64"}}));
}

BOOST_AUTO_TEST_CASE(entries_that_match_nothing_are_refused) {
  BOOST_TEST(refused<ValueError>([] {
               train({}, PolicyMap({.default_policy = "float32", .policies = {{"block/third", "bfloat16"}}}));
             }) ==
             "[PolicyMap] every entry must match a layer; got \"block/third\"; valid paths: block, block/first, "
             "block/second, dense");
}

BOOST_AUTO_TEST_SUITE_END()
