// Draws colour pictures of droplets by two networks that play against each other: see droplet_gan.py.
#include <boost/test/unit_test.hpp>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t side = 12, seed_size = 5, count = 32, batch_size = 8;

// Round spots that fade towards their rim, on a dark ground: (count, side, side, 3).
Tensor droplets() {
  const Value axis = linspace(-1, 1, {.num = side});
  const Value row = uniform_numbers(1, {count, 1, 1}, -0.4, 0.4), column = uniform_numbers(2, {count, 1, 1}, -0.4, 0.4);
  const Value radius = uniform_numbers(3, {count, 1, 1}, 0.5, 0.9);
  const Value distance = (square(axis(all, newaxis) - row) + square(axis - column)) / square(radius);
  return exp(-distance)(ellipsis, newaxis) * uniform_numbers(4, {count, 1, 1, 3}, 0.2, 1);
}

Sequential painter() {
  Sequential stack({Input({seed_size}), Dense(3 * 3 * 8), Reshape({3, 3, 8})}, {.name = "painter"});
  for (const int channels : {6, 4}) {
    stack.add(LeakyReLU({.negative_slope = 0.1}));
    stack.add(Conv2DTranspose(channels, {.kernel_size = 4, .strides = 2, .padding = "same"}));
  }
  stack.add(Conv2D(3, {.kernel_size = 3, .padding = "same", .activation = "sigmoid"}));
  return stack;
}

Sequential expert() {
  Sequential stack({Input({side, side, 3})}, {.name = "expert"});
  for (const auto& [channels, stride] : {std::pair(4, 2), {6, 1}, {8, 2}}) {
    stack.add(Conv2D(channels, {.kernel_size = 3, .strides = stride, .padding = "same"}));
    stack.add(LeakyReLU({.negative_slope = 0.1}));
  }
  stack.add(Flatten());
  stack.add(Dense(1, {.activation = "sigmoid"}));
  return stack;
}

class Duel : public Module {
 public:
  Duel() : Module("Duel") {}
  Value training_step(const Batch& batch) override {
    const Value genuine = ones({batch_size, 1}), forged = zeros({batch_size, 1}), seeds = batch["seeds"];
    const Value smoothed = concatenate({0.9 * genuine, forged}, 0);
    // The expert looks at both kinds in one call, then the painter is told what would have fooled it.
    const Value seen = loss_(smoothed, judge(concatenate({batch["real"], paint(seeds(all, 0))}, 0)));
    minimize(seen, optimizer("judge"));
    const Value fooled = loss_(genuine, judge(paint(seeds(all, 1))));
    minimize(fooled, optimizer("paint"));
    log_dict({{"expert", seen}, {"painter", fooled}});
    return seen;
  }
  OptimizerConfigs configure_optimizers() override {
    return {{.optimizer = Adam({.learning_rate = 0.004}), .weights = paint.trainable_weights(), .name = "paint"},
            {.optimizer = Adam({.learning_rate = 0.002}), .weights = judge.trainable_weights(), .name = "judge"}};
  }

  Sequential paint = sub("paint", painter()), judge = sub("judge", expert());

 private:
  losses::BinaryCrossentropy loss_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(droplet_gan)

BOOST_AUTO_TEST_CASE(losses_and_pictures_equal_keras) {
  nlohmann::json keras = program("droplet_gan");
  Duel duel;
  initialize(duel.paint, keras["shapes"]);
  initialize(duel.judge, keras["shapes"], 200);
  const Tensor real = droplets(), seeds = normal_numbers(5, {count, 2, seed_size});
  const DataLoader loader(Dataset::from_tensors({{"real", real}, {"seeds", seeds}}), {.batch_size = batch_size});
  Trainer trainer({.max_epochs = 3, .enable_progress_bar = false});
  check_history(trainer.fit(duel, loader), keras["history"]);
  const Value pictures = duel.paint.predict(rows(seeds, 0, 4)(all, 0));
  check_numbers("colour", mean(pictures, {.axes = {1, 2}}).tensor().to_doubles(), keras["colours"]);
  check_numbers("middle row", pictures(0, side / 2).tensor().to_doubles(), keras["middle"]);
  check_numbers("verdict", duel.judge.predict(rows(real, 0, 4)).to_doubles(), keras["verdicts"]);
}

BOOST_AUTO_TEST_SUITE_END()
