// A lower bound for the time of a training step: that of oneDNN's own primitives alone, plus the memory traffic that no
// plan can avoid. The traffic counts at the bandwidth of a triad over arrays larger than the private caches, so a model
// whose weights stay in the caches can be faster.
//
// roofline [WORKLOAD ...], default all: prints one line of JSON for each workload and dtype.
//
// g++ -std=c++17 -O3 -march=native roofline.cpp -o roofline -ldnnl -pthread
#include <cstdio>

#include "primitive_times.hpp"

namespace {

using namespace roofline;

// The least time of a step, in seconds, and its number of items.
struct Bound {
  double items = 0, compute = 0, memory = 0;
};

double element_bytes(DType dtype) { return dtype == DType::f32 ? 4 : 2; }

// Reads gradient, weight and two moments; writes weight, moments and a bfloat16 copy of the weight.
double adam(double weights, DType dtype) { return streaming(weights * (4 * 7 + (dtype == DType::f32 ? 0 : 2))); }

Bound mlp(DType d) {
  return {128, dense(128, 512, 784, d, false) + dense(128, 512, 512, d) + dense(128, 10, 512, d), adam(669706, d)};
}

Bound cnn(DType d) {
  const double activations = 128.0 * (26 * 26 * 32 * 3 + 11 * 11 * 64 * 3);
  return {128,
          convolution({128, 1, 28, 32, 3, 1, 0, false}, d) + convolution({128, 32, 13, 64, 3, 1, 0}, d) +
              dense(128, 10, 1600, d),
          adam(34826, d) + streaming(activations * element_bytes(d))};
}

Bound resnet18(DType d) {
  double compute = convolution({32, 3, 224, 64, 7, 2, 3, false}, d) + 4 * convolution({32, 64, 56, 64, 3, 1, 1}, d);
  double activations = 32.0 * 64 * 112 * 112 * (6 + 2) + 4 * 32.0 * 64 * 56 * 56 * 6;
  for (long channels = 64, size = 56; channels < 512; channels *= 2, size /= 2) {
    compute += convolution({32, channels, size, 2 * channels, 3, 2, 1}, d) +
               convolution({32, channels, size, 2 * channels, 1, 2, 0}, d) +
               3 * convolution({32, 2 * channels, size / 2, 2 * channels, 3, 1, 1}, d);
    activations += 5 * 32.0 * 2 * static_cast<double>(channels * size * size) / 4 * 6;
  }
  return {32, compute, streaming(activations * element_bytes(d)) + adam(11.2e6, d)};
}

// Stages of bottlenecks: 1x1, 3x3 with the stride, 1x1 to four times the channels; the first input is projected.
Bound resnet50(DType d) {
  constexpr long batch = 16;
  double compute = convolution({batch, 3, 224, 64, 7, 2, 3, false}, d);
  double activations = batch * 64 * 112 * 112 * (6 + 2);
  const auto add = [&](long in, long size, long out, long kernel, long stride) {
    compute += convolution({batch, in, size, out, kernel, stride, kernel / 2}, d);
    const long pixels = size / stride * (size / stride);
    activations += 6 * static_cast<double>(batch * out * pixels);
  };
  long in = 64, size = 56, width = 64;
  for (const long blocks : {3, 4, 6, 3}) {
    for (long block = 0; block < blocks; ++block) {
      const long stride = block == 0 && width > 64 ? 2 : 1;
      if (block == 0) add(in, size, 4 * width, 1, stride);
      add(in, size, width, 1, 1);
      add(width, size, width, 3, stride);
      size /= stride;
      in = 4 * width;
      add(width, size, in, 1, 1);
    }
    width *= 2;
  }
  return {batch, compute, streaming(activations * element_bytes(d)) + adam(23.6e6, d)};
}

struct TransformerSizes {
  long batch, length, width, heads, hidden, layers, vocabulary;
  bool language_model;
};

// Embeddings are updated densely, as in the peers. Norms, GELU and softmax are read and written once forward and once
// backward.
Bound transformer(const TransformerSizes& t, DType d) {
  const long tokens = t.batch * t.length, head = t.width / t.heads;
  const auto area = [](long a, long b) { return static_cast<double>(a) * static_cast<double>(b); };
  const double attention =
      matmul(t.batch * t.heads, t.length, t.length, head, d) + matmul(t.batch * t.heads, t.length, head, t.length, d);
  double compute = static_cast<double>(t.layers) *
                   (dense(tokens, 3 * t.width, t.width, d) + dense(tokens, t.width, t.width, d) +
                    dense(tokens, t.hidden, t.width, d) + dense(tokens, t.width, t.hidden, d) + 3 * attention);
  if (t.language_model) compute += dense(tokens, t.vocabulary, t.width, d);
  const double weights = static_cast<double>(t.layers) * (4 * area(t.width, t.width) + 2 * area(t.width, t.hidden)) +
                         area(t.vocabulary, t.width);
  double activations = static_cast<double>(t.layers) *
                       (area(tokens, 16 * t.width + 5 * t.hidden) + 5 * area(t.batch * t.heads, t.length * t.length));
  if (t.language_model) activations += 5 * area(tokens, t.vocabulary);
  return {static_cast<double>(t.language_model ? tokens : t.batch), compute,
          adam(weights, d) + streaming(activations * element_bytes(d))};
}

Bound minilm(DType d) { return transformer({16, 128, 384, 12, 1536, 6, 30522, false}, d); }
Bound gptchar(DType d) { return transformer({12, 64, 128, 4, 512, 4, 65, true}, d); }
Bound bert(DType d) { return transformer({8, 128, 768, 12, 3072, 12, 30522, false}, d); }
Bound gpt2(DType d) { return transformer({4, 64, 768, 12, 3072, 12, 50257, true}, d); }

// The recurrent product as one product over all steps, which its order forbids. Gates, states and carries are written
// once and read once.
Bound recurrent(long gates, long states, DType d) {
  const long rows = 7680, units = 128;  // 64 sequences of 120 steps
  const double activations = 2.0 * static_cast<double>(rows * units * (4 + states));
  return {64,
          dense(rows, gates * units, units, d, false) + dense(rows, gates * units, units, d) + dense(64, 10, units, d),
          adam(static_cast<double>(gates * units * (2 * units + 1)), d) + streaming(activations * element_bytes(d))};
}

Bound lstm(DType d) { return recurrent(4, 2, d); }
Bound gru(DType d) { return recurrent(3, 1, d); }

const std::vector<std::pair<std::string, Bound (*)(DType)>> workloads{
    {"mlp", mlp},           {"cnn", cnn},   {"resnet18", resnet18}, {"minilm", minilm}, {"gptchar", gptchar},
    {"resnet50", resnet50}, {"bert", bert}, {"gpt2", gpt2},         {"lstm", lstm},     {"gru", gru}};

void print(const std::string& workload, DType dtype, const Bound& bound) {
  const dnnl_version_t& version = *dnnl_version();
  std::printf(
      "{\"framework\": \"oneDNN %d.%d.%d\", \"workload\": \"%s\", \"config\": \"%s\", \"per_s\": %.1f, "
      "\"compute_ms\": %.3f, \"memory_ms\": %.3f, \"gb_per_s\": %.1f}\n",
      version.major, version.minor, version.patch, workload.c_str(), dtype == DType::f32 ? "float32" : "bfloat16",
      bound.items / (bound.compute + bound.memory), bound.compute * 1e3, bound.memory * 1e3, 1e-9 / streaming(1));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> asked(argv + 1, argv + argc);
  for (const auto& [name, bound] : workloads) {
    if (!asked.empty() && std::find(asked.begin(), asked.end(), name) == asked.end()) continue;
    for (const DType dtype : {DType::f32, DType::bf16}) print(name, dtype, bound(dtype));
  }
  return 0;
}
