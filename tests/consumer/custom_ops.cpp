// The examples of docs/custom_ops.md as a user's C++17 program. Prints each check that fails, and returns 1 then.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/mezzo.hpp>

using namespace mezzo;

namespace {

// An op with attribute, check, kernel and gradient

/// Refuses a bad attribute; the output has the shape and dtype of the input.
std::vector<Spec> infer_scaled_tanh(const OpCall& call) {
  const auto scale = call.attributes.get<double>("scale");
  if (scale <= 0) throw ValueError(call.where + " scale must be positive; got " + std::to_string(scale));
  return {call.inputs[0]};
}

void compute_scaled_tanh(const KernelCall& call) {
  const auto scale = static_cast<float>(call.request.attributes.get<double>("scale"));
  const auto* x = call.in<float>(0);
  auto* y = call.out<float>(0);
  const std::int64_t count = element_count(call.request.outputs[0].shape);
  for (std::int64_t i = 0; i < count; ++i) y[i] = scale * std::tanh(x[i] / scale);
}

/// The derivative is 1 - (y / scale)^2.
Values gradient_of_scaled_tanh(const GradientContext& context) {
  const Value ratio = context.output() / context.attributes().get<double>("scale");
  return {context.cotangent() * (1 - ratio * ratio)};
}

/// Registered at the first call.
const CustomOp& scaled_tanh_op() {
  static const CustomOp op({.name = "scaled_tanh",
                            .kernel = compute_scaled_tanh,
                            .infer = infer_scaled_tanh,
                            .gradient = gradient_of_scaled_tanh});
  return op;
}

/// scale tanh(x / scale), elementwise.
Value scaled_tanh(const Value& x, double scale) { return scaled_tanh_op()(x, {{"scale", scale}}); }

class ScaledTanh : public Layer {
 public:
  explicit ScaledTanh(double scale) : Layer("ScaledTanh"), scale_(scale) {}

 protected:
  Value call(const Value& x) override { return scaled_tanh(x, scale_); }

 private:
  double scale_;
};

// A function with a gradient of its own

/// log(1 + exp(x)), without overflow for large x.
Value log1pexp(const Value& x) {
  static const auto function = custom_gradient([](const Values& arguments) {
    const Value argument = arguments[0];
    const Value value = relu(argument) + log(1 + exp(-abs(argument)));
    return CustomGradientResult{value,
                                [argument](const Value& upstream) { return Values{upstream * sigmoid(argument)}; }};
  });
  return function({x});
}

// C++ code within a step

/// Median of the elements.
Tensor median(const Tensor& x) {
  std::vector<double> numbers = x.to_doubles();
  std::sort(numbers.begin(), numbers.end());
  return Tensor(Shape{}, std::vector<float>{static_cast<float>(numbers[numbers.size() / 2])});
}

int host_calls = 0;

/// Trains a line by the mean absolute error relative to 1 + its median.
class RobustLine : public Module {
 public:
  RobustLine() : Module("RobustLine") {}

  Value training_step(const Batch& batch) override {
    const Value prediction = print(line_(batch["x"]), {.message = "prediction"});
    const Value error = abs(prediction - batch["y"]);
    const auto count_and_compute = [](const Tensor& x) {
      ++host_calls;
      return median(x);
    };
    const Value typical = stop_gradient(host(count_and_compute, error, {.shape = Shape{}, .dtype = DType::float32}));
    return mean(error / (1 + typical));
  }

  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0.125})}}; }

 private:
  Dense line_ = sub("line", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(0.5)}));
};

// The checks

int failures = 0;

void expect(bool condition, const std::string& what) {
  if (condition) return;
  std::cout << "failed: " << what << '\n';
  ++failures;
}

void expect_close(double actual, double expected, double tolerance, const std::string& what) {
  expect(std::abs(actual - expected) <= tolerance,
         what + " must be " + std::to_string(expected) + "; got " + std::to_string(actual));
}

/// One weight w; the loss is f(w x). A step of SGD with learning rate 1 subtracts f'(w x) x from w.
class OneWeight : public Module {
 public:
  OneWeight(std::function<Value(const Value&)> f, double weight)
      : Module("OneWeight"),
        f_(std::move(f)),
        line_(sub("line", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(weight)}))) {}

  Value training_step(const Batch& batch) override { return mean(f_(line_(batch["x"]))); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 1.0})}}; }

 private:
  std::function<Value(const Value&)> f_;
  Dense line_;
};

/// A way to run a step.
struct Mode {
  std::string name;
  TrainerOptions options;
  double tolerance;
};

std::vector<Mode> modes() {
  TrainerOptions options;
  options.max_epochs = 1;
  options.enable_progress_bar = false;
  std::vector<Mode> all{{"32", options, 1e-5}, {"bf16", options, 0.01}, {"eager", options, 1e-5}};
  all[0].options.precision = "32";
  all[1].options.precision = "bf16";
  all[2].options.eager = true;
  return all;
}

/// f'(weight), as one training step computes it.
double trained_gradient(const std::function<Value(const Value&)>& f, double weight, const TrainerOptions& options) {
  OneWeight module(f, weight);
  const Tensor one({1, 1}, std::vector<float>{1});
  Trainer(options).fit(module, DataLoader(Dataset::from_tensors({{"x", one}}), {.batch_size = 1}));
  return weight - module.weights().at(0).value().item();
}

void check_values() {
  const Tensor x({3}, std::vector<float>{-4, 0, 0.5F});
  const std::vector<double> in = x.to_doubles(), y = scaled_tanh(x, 3).tensor().to_doubles();
  const Value low = scaled_tanh(x.cast(DType::bfloat16), 3);
  expect(low.dtype() == DType::bfloat16, "scaled_tanh of bfloat16 must be bfloat16");
  const std::vector<double> low_y = low.tensor().to_doubles();
  for (std::size_t i = 0; i < in.size(); ++i) {
    expect_close(y[i], 3 * std::tanh(in[i] / 3), 1e-6, "scaled_tanh");
    expect_close(low_y[i], 3 * std::tanh(in[i] / 3), 0.01, "scaled_tanh in bfloat16");
  }
  std::string error;
  try {
    scaled_tanh(x, -1);
  } catch (const ValueError& refused) {
    error = refused.what();
  }
  expect(error.find("scale must be positive; got -1") != std::string::npos, "a scale of -1 must be refused: " + error);

  const Tensor far({3}, std::vector<float>{-200, 0, 200});
  const std::vector<double> soft = log1pexp(far).tensor().to_doubles();
  const std::vector<double> expected{0, std::log(2.0), 200};
  for (std::size_t i = 0; i < soft.size(); ++i) expect_close(soft[i], expected[i], 1e-6, "log1pexp");
}

void check_gradients(const Mode& mode) {
  ScaledTanh layer(3);
  const auto call_layer = [layer](const Value& x) mutable { return layer(x); };
  const double slope = 1 - std::pow(std::tanh(0.5 / 3), 2);
  expect_close(trained_gradient(call_layer, 0.5, mode.options), slope, mode.tolerance,
               "gradient of scaled_tanh, " + mode.name);
  expect_close(trained_gradient(log1pexp, 0, mode.options), 0.5, mode.tolerance,
               "gradient of log1pexp at 0, " + mode.name);
  expect_close(trained_gradient(log1pexp, 128, mode.options), 1, mode.tolerance,
               "gradient of log1pexp at 128, " + mode.name);
}

/// Two steps: host() and print() run once in each.
void check_host_and_print(const Mode& mode) {
  const Tensor x({6, 1}, std::vector<float>{1, 2, 3, 4, 5, 6}), y({6, 1}, std::vector<float>{2, 4, 6, 8, 10, 12});
  const DataLoader loader(Dataset::from_tensors({{"x", x}, {"y", y, Role::target}}), {.batch_size = 3});
  RobustLine module;
  host_calls = 0;
  std::ostringstream output;
  std::streambuf* const before = std::cout.rdbuf(output.rdbuf());
  try {
    Trainer(mode.options).fit(module, loader);
  } catch (...) {
    std::cout.rdbuf(before);
    throw;
  }
  std::cout.rdbuf(before);
  expect(host_calls == 2, "host must be called 2 times, " + mode.name + "; got " + std::to_string(host_calls));
  const std::string text = output.str(), message = "prediction ";
  int printed = 0;
  for (auto at = text.find(message); at != std::string::npos; at = text.find(message, at + 1)) ++printed;
  expect(printed == 2, "print must write 2 arrays, " + mode.name + "; got \"" + text + "\"");
  expect(text.find("(3, 1)") != std::string::npos && text.find("1.5") != std::string::npos,
         "print must write shape and numbers, " + mode.name + "; got \"" + text + "\"");
}

}  // namespace

int main() {
  try {
    check_values();
    for (const Mode& mode : modes()) {
      check_gradients(mode);
      check_host_and_print(mode);
    }
  } catch (const std::exception& error) {
    std::cout << "failed: " << error.what() << '\n';
    return 1;
  }
  if (failures == 0) std::cout << "custom ops: all checks passed\n";
  return failures == 0 ? 0 : 1;
}
