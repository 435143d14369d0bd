// Matrix products and convolutions of int8 codes against those of bfloat16 and float32, and products of few rows with
// quantized weights.
//
// mezzo_int8 [--threads N] [--rounds N] [--only REGEX]
//
// Prints four tables of Markdown. The first one has the shapes of products of minilm, bert-base, gpt2 and mlp-wide:
// the time of the product of int8 codes, with the quantization of both operands, and the times of the other dtypes
// divided by it. The second one has products of 1 row with weights that are not in the caches: GB/s of codes, and the
// time of bfloat16 weights divided by that of the codes. The third one has convolutions of resnet50 and of the CNN of
// the benchmarks, as in a Predictor: the time of codes with the quantization of the images, for inputs in float32 and
// in bfloat16, and the times of these divided by it. The fourth one has the convolutions of training steps of resnet18,
// resnet50 and cnn with the batches of the benchmarks: forward and gradient of the input in bfloat16 and in int8, which
// quantizes images and kernel in each step. The kinds are timed in turn; figures are medians, with one thread of the
// processor time.
#include <iostream>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "timed.hpp"
#include "training.hpp"

namespace {

using namespace mezzo;
using mezzo_bench::numbers;
using mezzo_bench::Timed;
using mezzo_bench::times;

struct Product {
  const char* name;
  std::int64_t rows, depth, columns;
  bool transposed = false;
};

const std::vector<Product> many_rows{{"minilm projection", 4096, 384, 384},
                                     {"minilm up", 4096, 384, 1536},
                                     {"minilm down", 4096, 1536, 384},
                                     {"minilm up, input gradient", 4096, 1536, 384, true},
                                     {"bert-base projection", 4096, 768, 768},
                                     {"bert-base up", 4096, 768, 3072},
                                     {"bert-base down", 4096, 3072, 768},
                                     {"gpt2 qkv", 2048, 768, 2304},
                                     {"gpt2 up", 2048, 768, 3072},
                                     {"gpt2 down", 2048, 3072, 768},
                                     {"gpt2 vocabulary", 512, 768, 50257, true},
                                     {"mlp-wide", 256, 4096, 4096},
                                     {"mlp-wide, input gradient", 256, 4096, 4096, true}};

struct Convolution {
  const char* name;
  std::int64_t images, size, channels, filters, kernel, stride;
};

const std::vector<Convolution> convolutions{{"stem, 7 x 7, stride 2", 4, 224, 3, 64, 7, 2},
                                            {"layer1, 3 x 3", 8, 56, 64, 64, 3, 1},
                                            {"layer2, 3 x 3, stride 2", 8, 56, 128, 128, 3, 2},
                                            {"layer2, 3 x 3", 8, 28, 128, 128, 3, 1},
                                            {"layer3, 3 x 3", 8, 14, 256, 256, 3, 1},
                                            {"layer4, 3 x 3", 8, 7, 512, 512, 3, 1},
                                            {"layer1, 1 x 1", 8, 56, 64, 256, 1, 1},
                                            {"layer1, 1 x 1", 8, 56, 256, 64, 1, 1},
                                            {"layer2, 1 x 1", 8, 28, 512, 128, 1, 1},
                                            {"layer3, 1 x 1", 8, 14, 256, 1024, 1, 1},
                                            {"layer4, 1 x 1", 8, 7, 2048, 512, 1, 1},
                                            {"cnn, first", 32, 28, 1, 32, 3, 1},
                                            {"cnn, second", 32, 13, 32, 64, 3, 1},
                                            {"16 channels", 32, 14, 16, 16, 3, 1}};

Attributes matmul_attributes(const Product& p, bool int8) {
  Attributes attributes{{"transpose_a", false}, {"transpose_b", p.transposed}};
  if (int8) attributes.set("products", std::string("int8"));
  return attributes;
}

void compare_dtypes(const Product& p, int rounds) {
  const Shape a{p.rows, p.depth}, b = p.transposed ? Shape{p.columns, p.depth} : Shape{p.depth, p.columns};
  const Tensor wide[] = {numbers(a, DType::float32), numbers(b, DType::float32)};
  const std::vector<Tensor> narrow{wide[0].cast(DType::bfloat16), wide[1].cast(DType::bfloat16)};
  std::vector<Timed> kernels;
  kernels.emplace_back("matmul", matmul_attributes(p, true), narrow);
  kernels.emplace_back("matmul", matmul_attributes(p, false), narrow);
  kernels.emplace_back("matmul", matmul_attributes(p, false), std::vector<Tensor>{wide[0], wide[1]});
  const std::vector<double> all = times(kernels, rounds, false);
  fmt::print("| {} | {} x {} x {} | {:.0f} us, {} | {:.2f} | {:.2f} |\n", p.name, p.rows, p.depth, p.columns, all[0],
             kernels[0].implementation(), all[1] / all[0], all[2] / all[0]);
}

/// A matrix of codes with scales of columns, or of blocks of 128 rows.
std::vector<Tensor> quantized_operands(const Product& p, std::int64_t bits, std::int64_t block) {
  Shape codes = p.transposed ? Shape{p.columns, p.depth} : Shape{p.depth, p.columns};
  if (bits == 4) codes.back() = (codes.back() + 1) / 2;
  Tensor bytes(codes, DType::int8);
  for (std::int64_t i = 0; i < bytes.size(); ++i) {
    bytes.mutable_data<std::int8_t>()[i] = static_cast<std::int8_t>(i * 7919 % 255 - 127);
  }
  std::vector<Tensor> all{numbers({p.rows, p.depth}, DType::bfloat16), bytes};
  if (block <= 0) {
    all.push_back(numbers({p.columns}, DType::float32));
  } else {
    const std::int64_t blocks = (p.depth + block - 1) / block;
    const Shape scales = p.transposed ? Shape{p.columns, blocks} : Shape{blocks, p.columns};
    all.push_back(numbers(scales, DType::float32));
    all.push_back(Tensor(scales, DType::int8));
  }
  return all;
}

void compare_codes(const Product& p, int rounds) {
  struct Codes {
    const char* name;
    std::int64_t bits, block;
  };
  const Shape b = p.transposed ? Shape{p.columns, p.depth} : Shape{p.depth, p.columns};
  std::vector<Timed> kernels;
  kernels.emplace_back("matmul", matmul_attributes(p, false),
                       std::vector<Tensor>{numbers({p.rows, p.depth}, DType::bfloat16), numbers(b, DType::bfloat16)});
  const std::vector<Codes> codes{{"int8", 8, -1}, {"int4", 4, -1}, {"int4/128", 4, 128}};
  for (const Codes& one : codes) {
    kernels.emplace_back("quantized_matmul",
                         Attributes{{"bits", one.bits},
                                    {"columns", b.back()},
                                    {"block_size", one.block},
                                    {"transpose_b", p.transposed},
                                    {"activations", std::string("none")}},
                         quantized_operands(p, one.bits, one.block));
  }
  const std::vector<double> all = times(kernels, rounds, true);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const double bytes = static_cast<double>(p.depth * p.columns * codes[i].bits) / 8;
    fmt::print("| {} | {} x {} x {} | {}, {} | {:.1f} | {:.2f} |\n", p.name, p.rows, p.depth, p.columns, codes[i].name,
               kernels[i + 1].implementation(), bytes / all[i + 1] / 1000, all[0] / all[i + 1]);
  }
}

std::vector<Tensor> operands_of(const Convolution& c, DType dtype) {
  return {numbers({c.images, c.size, c.size, c.channels}, dtype),
          numbers({c.kernel, c.kernel, c.channels, c.filters}, dtype), numbers({c.filters}, DType::float32)};
}

Timed codes_of(const Convolution& c, Attributes attributes, DType dtype) {
  const Tensor floats = numbers({c.kernel, c.kernel, c.channels, c.filters}, DType::float32);
  Tensor codes(floats.shape(), DType::int8);
  for (std::int64_t i = 0; i < codes.size(); ++i) {
    codes.mutable_data<std::int8_t>()[i] = static_cast<std::int8_t>(127 * floats.data<float>()[i]);
  }
  attributes.set("activations", std::string("dynamic"));
  attributes.set("bias", true);
  const Tensor of_filters = numbers({c.filters}, DType::float32);
  return {"quantized_conv2d", attributes, {operands_of(c, dtype)[0], codes, of_filters, of_filters}, 3};
}

void compare_convolutions(const Convolution& c, int rounds) {
  const std::int64_t same = c.kernel / 2;
  const Attributes attributes{{"strides", Shape{c.stride, c.stride}},
                              {"padding", Shape{same, same, same, same}},
                              {"dilation", Shape{1, 1}},
                              {"groups", std::int64_t{1}}};
  std::vector<Timed> kernels;
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    kernels.push_back(codes_of(c, attributes, dtype));
    kernels.emplace_back("conv2d", attributes, operands_of(c, dtype), 2);
  }
  const std::vector<double> all = times(kernels, rounds, false);
  fmt::print("| {} | {} x {} x {} x {}, {} filters | {:.0f} us, {:.2f}, {} | {:.0f} us, {:.2f}, {} |\n", c.name,
             c.images, c.size, c.size, c.channels, c.filters, all[0], all[1] / all[0], kernels[1].implementation(),
             all[2], all[3] / all[2], kernels[3].implementation());
}

}  // namespace

int main(int count, char** arguments) try {
  int rounds = 11;
  std::string text;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string option = arguments[i];
    if (option == "--threads") {
      set_thread_count(std::stoi(arguments[i + 1]));
    } else if (option == "--rounds") {
      rounds = std::stoi(arguments[i + 1]);
    } else if (option == "--only") {
      text = arguments[i + 1];
    } else {
      count = 0;
    }
  }
  if (count % 2 == 0 || rounds < 1) {
    std::cerr << "usage: mezzo_int8 [--threads N] [--rounds N] [--only REGEX]\n";
    return 2;
  }
  const std::regex only(text);
  fmt::print("| product | rows x depth x columns | int8 | bfloat16 : int8 | float32 : int8 |\n|---|---|---|---|---|\n");
  for (const Product& p : many_rows) {
    if (std::regex_search(p.name, only)) compare_dtypes(p, rounds);
  }
  fmt::print("\n| product | rows x depth x columns | weights | GB/s | bfloat16 : weights |\n|---|---|---|---|---|\n");
  for (Product p : many_rows) {
    p.rows = 1;
    if (std::string(p.name).rfind("gpt2", 0) == 0 && std::regex_search(p.name, only)) compare_codes(p, rounds);
  }
  fmt::print(
      "\n| convolution | images | float32 inputs: int8, float32 : int8 | bfloat16 inputs: int8, bfloat16 : int8 |\n"
      "|---|---|---|---|\n");
  for (const Convolution& c : convolutions) {
    if (std::regex_search(c.name, only)) compare_convolutions(c, rounds);
  }
  mezzo_bench::print_training_convolutions(text, rounds);
  return 0;
} catch (const std::exception& error) {
  std::cerr << "mezzo_int8: " << error.what() << "\n";
  return 1;
}
