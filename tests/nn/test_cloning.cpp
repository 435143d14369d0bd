#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/layers.hpp"

using namespace mezzo;
using mezzo_tests::changed_since;
using mezzo_tests::paths_of;
using mezzo_tests::values_of;

namespace {

class Pair : public Model {
 public:
  Pair() : Model("Pair") {}

 protected:
  Value call(const Value& x) override { return second_(first_(x)); }

 private:
  Dense first_ = sub("first", Dense({.units = 3, .activation = "relu"}));
  Dense second_ = sub("second", Dense({.units = 1}));
};

Tensor inputs() { return {{4, 2}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}}; }
Tensor targets() { return {{4, 1}, std::vector<float>{1, 0, 2, 1}}; }

/// Checks that the clone has the same numbers and shares none.
template <class M>
void check_apart(M& model, M& deep) {
  BOOST_TEST(paths_of(deep) == paths_of(model));
  BOOST_TEST(changed_since(values_of(model), deep) == "");
  const Tensor before = deep(inputs()).tensor();
  BOOST_TEST(before.equal(model(inputs()).tensor()));
  for (const Variable& weight : model.weights()) weight.assign(Tensor(weight.shape()));
  BOOST_TEST(model(inputs()).tensor().to_doubles()[3] == 0.0);
  BOOST_TEST(deep(inputs()).tensor().equal(before));
  BOOST_TEST(deep.weights().size() == model.weights().size());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cloning)

BOOST_AUTO_TEST_CASE(a_clone_does_not_follow_the_original) {
  Sequential model({Dense({.units = 3}), mezzo_tests::Scale({.initial = 2}), Dense({.units = 1})});
  model.build({1, 2});
  Sequential deep = clone(model);
  check_apart(model, deep);
  Pair pair;
  pair.build({1, 2});
  Pair deep_pair = clone(pair);
  check_apart(pair, deep_pair);
  const auto x = Input({.shape = {2}});
  Model functional({.inputs = {x}, .outputs = {Dense({.units = 1})(x) * 2}});
  Model deep_functional = clone(functional);
  check_apart(functional, deep_functional);
}

BOOST_AUTO_TEST_CASE(a_clone_of_open_sizes_has_its_own_kernels) {
  const auto x = Input({.shape = {-1, -1, 2}});
  Model model(x, Conv2D({.filters = 3, .kernel_size = 2})(x));
  Model deep = clone(model);
  const Tensor picture({1, 3, 3, 2}, std::vector<float>(18, 1));
  const Tensor before = model.predict(picture);
  for (const Variable& weight : model.weights()) weight.assign(Tensor(weight.shape()));
  BOOST_TEST(deep.predict(picture).equal(before));
  BOOST_TEST(model.predict(picture).equal(Tensor({1, 2, 2, 3})));
}

BOOST_AUTO_TEST_CASE(a_copy_does) {
  Pair pair;
  Pair copy = pair;
  pair.build({1, 2});
  for (const Variable& weight : pair.weights()) weight.assign(Tensor(weight.shape()));
  BOOST_TEST(copy(inputs()).tensor().to_doubles()[3] == 0.0);
}

BOOST_AUTO_TEST_CASE(what_was_tied_stays_tied_among_the_copies) {
  Dense twice({.units = 2, .use_bias = false});
  Sequential model({twice, twice});
  model.build({1, 2});
  Sequential deep = clone(model);
  BOOST_TEST(deep.weights().size() == 1U);
  deep.weights()[0].assign(Tensor({2, 2}, std::vector<float>{0, 1, 1, 0}));
  BOOST_TEST(deep(inputs()).tensor().equal(inputs()));
}

BOOST_AUTO_TEST_CASE(a_clone_goes_on_with_the_optimizers_state_and_not_with_the_original) {
  const SGD optimizer({.learning_rate = 0.01, .momentum = 0.9});
  Pair model;
  model.compile({.optimizer = optimizer, .loss = "mse"});
  const FitOptions plain{.batch_size = 2, .epochs = 2, .verbose = false, .shuffle = false};
  model.fit(inputs(), targets(), plain);
  Pair deep = clone(model);
  const auto before = values_of(model);
  deep.fit(inputs(), targets(), plain);
  BOOST_TEST(changed_since(before, model) == "");
  BOOST_TEST(optimizer.iterations() == 4);
  model.fit(inputs(), targets(), plain);
  BOOST_TEST(optimizer.iterations() == 8);
  BOOST_TEST(changed_since(before, model) != "");
  BOOST_TEST(changed_since(values_of(model), deep) == "");
}

// The properties of variables follow: a policy that converts weights leaves statistics in float32.
BOOST_AUTO_TEST_CASE(a_clone_keeps_the_properties_of_variables) {
  BatchNormalization layer({.axis = -1});
  layer.build({1, 2});
  const BatchNormalization deep = clone(layer);
  const auto before = layer.weights(), after = deep.weights();
  BOOST_TEST_REQUIRE(after.size() == before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const detail::VariableState &a = *before[i].state(), &b = *after[i].state();
    BOOST_TEST(b.name == a.name);
    BOOST_TEST(b.trainable == a.trainable);
    BOOST_TEST(b.autocast == a.autocast);
    BOOST_TEST(a.fixed_dtype);
    BOOST_TEST(b.fixed_dtype);
    BOOST_TEST(b.file_name == a.file_name);
  }
}

BOOST_AUTO_TEST_SUITE_END()
