// Training steps of a model whose sizes are arguments.
//
// mezzo_growth mlp|gpt POLICY [--batch N] [--depth N] [--width N] [--length N] [--seconds S]
//
//   mlp  depth dense layers of `width` units with ReLU, then 10 logits, on a batch of `width` features
//   gpt  depth transformer layers of size `width` with heads of 64 (or one), 256 ids, `length` positions
//
// Prints a line of JSON: the sizes, ms (median step), rss_mib (peak resident memory), arena_mib (memory of the step's
// plan) and weights_mib (variables and the optimizer's states).
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <mezzo/mezzo.hpp>
#include <mezzo/training/step/step_runner.hpp>

#include "../measure.hpp"

namespace {

using namespace mezzo;

constexpr const char* usage =
    "usage: mezzo_growth mlp|gpt POLICY [--batch N] [--depth N] [--width N] [--length N] [--seconds S]";
constexpr std::int64_t classes = 10, vocabulary = 256, head = 64;

struct Arguments {
  std::string model, policy;
  std::map<std::string, std::int64_t> sizes{{"batch", 8}, {"depth", 4}, {"width", 128}, {"length", 64}};
  double seconds = 1;
};

Arguments parse(int argc, const char* const* argv) {
  Arguments out;
  if (argc < 3) throw ValueError(usage);
  out.model = argv[1];
  out.policy = argv[2];
  if ((out.model != "mlp" && out.model != "gpt") || argc % 2 == 0) throw ValueError(usage);
  for (int i = 3; i < argc; i += 2) {
    const std::string option = argv[i];
    const double number = std::stod(argv[i + 1]);
    const auto size = out.sizes.find(option.substr(std::min<std::size_t>(2, option.size())));
    if (option == "--seconds" && number >= 0) {
      out.seconds = number;
    } else if (option.rfind("--", 0) == 0 && size != out.sizes.end() && number >= 1) {
      size->second = static_cast<std::int64_t>(number);
    } else {
      throw ValueError(std::string("bad option ") + option + " " + argv[i + 1] + "; " + usage);
    }
  }
  return out;
}

std::unique_ptr<Model> make_mlp(std::int64_t depth, std::int64_t width) {
  auto model = std::make_unique<Sequential>();
  for (std::int64_t i = 0; i < depth; ++i) model->add(Dense(width, {.activation = "relu"}));
  model->add(Dense(classes));
  return model;
}

std::unique_ptr<Model> make_gpt(std::int64_t depth, std::int64_t width, std::int64_t length) {
  return std::make_unique<GPT>(GPTOptions{.vocab_size = vocabulary,
                                          .n_positions = length,
                                          .n_embd = width,
                                          .n_layer = depth,
                                          .n_head = std::max<std::int64_t>(1, width / head),
                                          .resid_pdrop = 0,
                                          .embd_pdrop = 0,
                                          .attn_pdrop = 0});
}

Tensor integers(const Shape& shape, std::int64_t below, std::mt19937& random) {
  Tensor out(shape, DType::int64);
  std::uniform_int_distribution<std::int64_t> number(0, below - 1);
  for (std::int64_t i = 0; i < out.size(); ++i) out.mutable_data<std::int64_t>()[i] = number(random);
  return out;
}

Tensor features(const Shape& shape, std::mt19937& random) {
  Tensor out(shape, DType::float32);
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < out.size(); ++i) out.mutable_data<float>()[i] = normal(random);
  return out;
}

double mebibytes(double bytes) { return std::round(bytes / (1 << 20) * 1e4) / 1e4; }

double weight_bytes(Model& model) {
  double bytes = 0;
  for (const Variable& weight : model.weights()) bytes += static_cast<double>(weight.value().bytes());
  for (const OptimizerConfig& config : detail::training_state(model).optimizers) {
    for (const Variable& slot : config.optimizer->variables()) bytes += static_cast<double>(slot.value().bytes());
  }
  return bytes;
}

void run(const Arguments& arguments) {
  const std::int64_t batch = arguments.sizes.at("batch"), depth = arguments.sizes.at("depth"),
                     width = arguments.sizes.at("width"), length = arguments.sizes.at("length");
  const bool language = arguments.model == "gpt";
  const Policy policy = Precision(arguments.policy).policy();
  std::mt19937 random(0);
  const Shape tokens{batch, length};
  const Tensor x = language ? integers(tokens, vocabulary, random) : features({batch, width}, random);
  const Tensor y = language ? integers(tokens, vocabulary, random) : integers({batch}, classes, random);
  const HostBatch data{{{"x", x, Role::input}, {"y", y, Role::target}}, batch};
  const std::unique_ptr<Model> model = language ? make_gpt(depth, width, length) : make_mlp(depth, width);
  model->compile({.optimizer = AdamW({.learning_rate = 1e-4, .weight_decay = 0.01}),
                  .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  model->build(x.shape());
  const mezzo_bench::Measurement result = mezzo_bench::measure(*model, data, policy, arguments.seconds);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto& plan = *model->run_state()->last_plan;
  nlohmann::ordered_json line{{"model", arguments.model}, {"policy", policy.name()}};
  for (const char* size : {"batch", "depth", "width", "length"}) line[size] = arguments.sizes.at(size);
  line["ms"] = std::round(result.median() * 1e6) / 1e3;
  line["rss_mib"] = mebibytes(static_cast<double>(used.ru_maxrss) * 1024);
  line["arena_mib"] = mebibytes(static_cast<double>(plan.arena_bytes()));
  line["weights_mib"] = mebibytes(weight_bytes(*model));
  std::cout << line.dump() << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "mezzo_growth: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
