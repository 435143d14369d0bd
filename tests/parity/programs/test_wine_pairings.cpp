// Predicts from tables of embeddings whether a dish and a wine were liked together: see wine_pairings.py.
#include <boost/test/unit_test.hpp>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr int dishes = 9, wines = 7, dinner_count = 80, trained = 64, dish_factors = 5, wine_factors = 3;

// A table has a bias in the first column: how well a dish or wine is liked beside anything.
Embedding table(int count, int factors) {
  return Embedding(count, 1 + factors,
                   {.embeddings_initializer = "he_normal", .embeddings_regularizer = regularizers::l2(2e-3)});
}

class Pairing : public Model {
 public:
  Pairing() : Model("Pairing") {}
  void build(const Shape& input) override {
    add_weight(bridge_, {.shape = {dish_factors, wine_factors}});
    Model::build(input);
  }

 protected:
  Value call(const Value& pairs) override {
    const Value dish = dish_(pairs(all, 0)), wine = wine_(pairs(all, 1));
    const detail::Slice factors = slice(1, std::nullopt), bias = slice(1);
    const Value wanted = tensordot(dish(all, factors), bridge_, 1);
    const Value match = sum(wanted * wine(all, factors), {.axes = {1}, .keepdims = true});
    return sigmoid(match + dish(all, bias) + wine(all, bias));
  }

 private:
  Variable bridge_{"bridge"};
  Embedding dish_ = sub("dish", table(dishes, dish_factors)), wine_ = sub("wine", table(wines, wine_factors));
};

// Pairs of indices and the points of the guests, scaled to 0..1: the richer the dish, the more tannin it takes.
std::pair<Tensor, Tensor> dinners() {
  const Value dish = random_integers(1, {dinner_count}, dishes), wine = random_integers(2, {dinner_count}, wines);
  const Value richness = uniform_numbers(3, {dishes}), tannin = uniform_numbers(4, {wines});
  const Value points = 12 + 6 * richness(dish) * tannin(wine) + uniform_numbers(5, {dinner_count});
  const Value worst = min(points), best = max(points);
  return {stack({dish, wine}, 1), (points - worst) / (best - worst)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(wine_pairings)

BOOST_AUTO_TEST_CASE(losses_and_chances_equal_keras) {
  nlohmann::json keras = program("wine_pairings");
  const auto [pairs, liking] = dinners();
  Pairing model;
  model(rows(pairs, 0, 1));
  initialize(model, keras["shapes"]);
  model.compile({.optimizer = Adam(0.02), .loss = losses::BinaryCrossentropy(), .metrics = {"mae"}});
  const ValidationData kept(rows(pairs, trained, dinner_count), rows(liking, trained, dinner_count));
  const History run =
      model.fit(rows(pairs, 0, trained), rows(liking, 0, trained),
                {.batch_size = 16, .epochs = 4, .verbose = 0, .validation_data = kept, .shuffle = false});
  check_history(run, keras["history"]);
  const Value card = stack({full({wines}, 2), arange(wines)}, 1);
  const Tensor chances = model.predict(card)(all, 0);
  check_numbers("chance of wine", chances.to_doubles(), keras["chances"]);
  check_numbers("place", argsort(-chances).tensor().to_doubles(), keras["order"]);
}

BOOST_AUTO_TEST_SUITE_END()
