// Convolutions of training steps under mixed_bfloat16 and mixed_int8.
#include <regex>

#include <fmt/format.h>

#include <mezzo/ops/kernel_convolution.hpp>

#include "timed.hpp"
#include "training.hpp"

namespace mezzo_bench {
namespace {

using namespace mezzo;

/// A convolution that a model has `count` times. Padding keeps the size, except without `same`.
struct TrainedConvolution {
  std::int64_t count, size, channels, filters, kernel, stride;
  bool same = true;
};

struct ModelConvolutions {
  const char* name;
  std::int64_t images;  ///< of a batch of the benchmarks
  std::vector<TrainedConvolution> convolutions;
};

const std::vector<ModelConvolutions> models{
    {"resnet18",
     32,
     {{4, 56, 64, 64, 3, 1},
      {1, 56, 64, 128, 3, 2},
      {1, 56, 64, 128, 1, 2},
      {3, 28, 128, 128, 3, 1},
      {1, 28, 128, 256, 3, 2},
      {1, 28, 128, 256, 1, 2},
      {3, 14, 256, 256, 3, 1},
      {1, 14, 256, 512, 3, 2},
      {1, 14, 256, 512, 1, 2},
      {3, 7, 512, 512, 3, 1}}},
    {"resnet50",
     16,
     {{1, 56, 64, 64, 1, 1},    {2, 56, 256, 64, 1, 1},   {3, 56, 64, 64, 3, 1},     {4, 56, 64, 256, 1, 1},
      {1, 56, 256, 128, 1, 1},  {1, 56, 128, 128, 3, 2},  {1, 56, 256, 512, 1, 2},   {4, 28, 128, 512, 1, 1},
      {3, 28, 512, 128, 1, 1},  {3, 28, 128, 128, 3, 1},  {1, 28, 512, 256, 1, 1},   {1, 28, 256, 256, 3, 2},
      {1, 28, 512, 1024, 1, 2}, {6, 14, 256, 1024, 1, 1}, {5, 14, 1024, 256, 1, 1},  {5, 14, 256, 256, 3, 1},
      {1, 14, 1024, 512, 1, 1}, {1, 14, 512, 512, 3, 2},  {1, 14, 1024, 2048, 1, 2}, {3, 7, 512, 2048, 1, 1},
      {2, 7, 2048, 512, 1, 1},  {2, 7, 512, 512, 3, 1}}},
    {"cnn", 128, {{1, 13, 32, 64, 3, 1, false}}}};

/// Times in ms. 0: there is no such kernel.
struct Times {
  double forward = 0, int8 = 0, gradient = 0, int8_gradient = 0;

  void add(const Times& other, std::int64_t count) {
    const auto times = static_cast<double>(count);
    forward += times * other.forward;
    int8 += times * other.int8;
    gradient += times * other.gradient;
    int8_gradient += times * (other.int8_gradient > 0 ? other.int8_gradient : other.gradient);  // it stays in bfloat16
  }
};

std::string number(double time) { return time == 0 ? "-" : fmt::format("{:.2f}", time); }
std::string ratio(double base, double time) { return time == 0 ? "-" : fmt::format("{:.2f}", base / time); }

void print_row(const std::string& name, const std::string& count, const std::string& kernels, const Times& t) {
  fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", name, count, number(t.forward), number(t.int8),
             ratio(t.forward, t.int8), number(t.gradient), number(t.int8_gradient), ratio(t.gradient, t.int8_gradient),
             kernels);
}

/// The kernels of a convolution, and how Times has their medians.
class Measured {
 public:
  Measured(const TrainedConvolution& c, std::int64_t images) {
    const std::int64_t same = c.same ? c.kernel / 2 : 0;
    const Attributes plain{{"strides", Shape{c.stride, c.stride}},
                           {"padding", Shape{same, same, same, same}},
                           {"dilation", Shape{1, 1}},
                           {"groups", std::int64_t{1}}};
    const Shape x{images, c.size, c.size, c.channels};
    const Tensor input = numbers(x, DType::bfloat16);
    const Tensor kernel = numbers({c.kernel, c.kernel, c.channels, c.filters}, DType::bfloat16);
    Attributes int8 = plain, of_input = plain;
    int8.set("products", std::string("int8"));
    of_input.set("shape", x);
    add(&Times::forward, "conv2d", plain, {input, kernel});
    add(&Times::int8, "conv2d", int8, {input, kernel});
    const std::int64_t out = (c.size + 2 * same - c.kernel) / c.stride + 1;
    const Tensor cotangent = numbers({images, out, out, c.filters}, DType::bfloat16);
    add(&Times::gradient, "conv2d_input_gradient", of_input, {cotangent, kernel});
    kernels_text_ = kernels_.front().implementation() + ", " + kernels_.back().implementation();
    if (c.stride > 1) return;
    of_input.set("products", std::string("int8"));
    add(&Times::int8_gradient, "conv2d_input_gradient", of_input, {cotangent, kernel});
  }

  const std::string& kernels_text() const { return kernels_text_; }

  Times run(int rounds) {
    Times result;
    const std::vector<double> medians = times(kernels_, rounds, false);
    for (std::size_t i = 0; i < medians.size(); ++i) result.*places_[i] = medians[i] / 1e3;
    return result;
  }

 private:
  void add(double Times::*place, const char* op, const Attributes& attributes, const std::vector<Tensor>& inputs) {
    places_.push_back(place);
    kernels_.emplace_back(op, attributes, inputs);
  }

  std::vector<double Times::*> places_;
  std::vector<Timed> kernels_;
  std::string kernels_text_;
};

}  // namespace

void print_training_convolutions(const std::string& only, int rounds) {
  fmt::print(
      "\n| convolution in training | times | bfloat16, ms | int8, ms | bfloat16 : int8 | "
      "input gradient in bfloat16, ms | in int8, ms | bfloat16 : int8 | kernels of bfloat16 |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  for (const ModelConvolutions& model : models) {
    Times sum;
    for (const TrainedConvolution& c : model.convolutions) {
      const std::string name = fmt::format("{}, {} x {}, {} x {} x {}, {} filters{}", model.name, c.kernel, c.kernel,
                                           c.size, c.size, c.channels, c.filters, c.stride > 1 ? ", stride 2" : "");
      if (!std::regex_search(name, std::regex(only))) continue;
      Measured measured(c, model.images);
      const Times result = measured.run(rounds);
      print_row(name, std::to_string(c.count), measured.kernels_text(), result);
      sum.add(result, c.count);
    }
    if (sum.forward > 0) print_row(fmt::format("{}, sum", model.name), "", "", sum);
  }
}

}  // namespace mezzo_bench
