// A user's C++17 program that compiles with -Wpedantic: options by their fields or positions, not by designated
// initializers, which are C++20. Fits y = 2 x - 1 and fails if that went wrong.
#include <cmath>
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
  DenseOptions line;
  line.name = "line";
  Sequential model({Dense(1, line)});
  CompileOptions compile;
  compile.optimizer = SGD(0.5);
  compile.loss = "mse";
  model.compile(compile);
  FitOptions fit;
  fit.batch_size = 16;
  fit.epochs = 50;
  model.fit(x, y, fit);
  const double predicted = model.predict(Tensor({1, 1}, std::vector<float>{0.5F})).item();
  print(model.evaluate(x, y));
  return std::abs(predicted) < 1e-3 ? 0 : 1;
}
