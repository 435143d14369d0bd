// What a user's C++17 program looks like: fits y = 2 x - 1 and fails if that went wrong.
#include <cmath>
#include <iostream>
#include <vector>

#include <mezzo/mezzo.hpp>

int main() {
  using namespace mezzo;
  std::vector<float> inputs, targets;
  for (int i = 0; i < 64; ++i) {
    inputs.push_back(static_cast<float>(i) / 32 - 1);
    targets.push_back(2 * inputs.back() - 1);
  }
  const Tensor x({64, 1}, inputs), y({64, 1}, targets);

  seed_everything(0);
  Sequential model({Dense({.units = 1, .name = "line"})});
  model.compile({.optimizer = SGD({.learning_rate = 0.5}), .loss = "mse"});
  model.fit(x, y, {.batch_size = 16, .epochs = 50});
  const double predicted = model.predict(Tensor({1, 1}, std::vector<float>{0.5F})).item();
  std::cout << "f(0.5) = " << predicted << '\n';
  return std::abs(predicted) < 1e-3 ? 0 : 1;
}
