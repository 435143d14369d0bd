#pragma once
#include <chrono>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/graph/op_registry.hpp>

#include "../median.hpp"

namespace mezzo_bench {

/// Numbers that differ from place to place, between -1 and 1.
inline mezzo::Tensor numbers(const mezzo::Shape& shape, mezzo::DType dtype) {
  std::vector<float> all(static_cast<std::size_t>(mezzo::element_count(shape)));
  std::uint32_t state = 1;
  for (float& x : all) {
    state = state * 1664525U + 1013904223U;
    x = static_cast<float>(state >> 8) * 0x1p-23F - 1.0F;
  }
  return mezzo::Tensor(shape, all).cast(dtype);
}

/// Microseconds: processor time with one thread, which other programs don't disturb, else wall time.
inline double microseconds() {
  if (mezzo::thread_count() == 1) return 1e6 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

/// A kernel with its operands.
class Timed {
 public:
  /// The first `constants` operands behind the first one don't change from run to run.
  Timed(const char* op, const mezzo::Attributes& attributes, std::vector<mezzo::Tensor> inputs,
        std::size_t constants = 0)
      : inputs_(std::move(inputs)) {
    mezzo::KernelRequest request;
    request.op = &mezzo::find_op(op);
    request.attributes = attributes;
    request.where = "[benchmark]";
    for (const mezzo::Tensor& input : inputs_) request.inputs.push_back({input.shape(), input.dtype()});
    request.outputs = request.op->infer({request.inputs, request.attributes, request.where});
    for (std::size_t i = 1; i <= constants; ++i) request.constants[i] = inputs_[i];
    chosen_ = mezzo::choose_kernel(request);
    output_ = mezzo::Tensor(request.outputs[0].shape, request.outputs[0].dtype);
    // Kernels need scratch memory at a multiple of 64 bytes, as tensors have it.
    scratch_ = mezzo::Tensor({static_cast<std::int64_t>(chosen_.kernel->scratch_bytes())}, mezzo::DType::uint8);
  }

  const std::string& implementation() const { return chosen_.implementation; }

  /// Microseconds of a run.
  double run() {
    std::vector<const void*> in;
    for (const mezzo::Tensor& input : inputs_) in.push_back(input.raw());
    void* const out = output_.mutable_raw();
    const double begin = microseconds();
    chosen_.kernel->run({in.data(), &out, scratch_.mutable_raw()});
    return microseconds() - begin;
  }

 private:
  std::vector<mezzo::Tensor> inputs_;
  mezzo::detail::ChosenKernel chosen_;
  mezzo::Tensor output_, scratch_;
};

/// Medians of the times of several kernels, run in turn. `cold`: operands are not in the caches, as the weights of a
/// model whose products follow each other.
inline std::vector<double> times(std::vector<Timed>& kernels, int rounds, bool cold) {
  std::vector<std::vector<double>> all(kernels.size());
  const mezzo::Tensor other({cold ? std::int64_t{1} << 24 : 0}, mezzo::DType::int64);
  std::int64_t sum = 0;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      for (std::int64_t j = 0; j < other.size(); j += 8) sum += other.data<std::int64_t>()[j];
      all[i].push_back(kernels[i].run());
    }
  }
  std::vector<double> out;
  for (const std::vector<double>& one : all) out.push_back(median(one) + static_cast<double>(sum));  // 0
  return out;
}

}  // namespace mezzo_bench
