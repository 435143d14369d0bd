#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/table.hpp>
#include <mezzo/compiler/packed_constants.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/quantized.hpp>

namespace mezzo {
namespace {

using Index = std::int64_t;

/// Codes of rows of x as floats, and their scales; NaN for rows with NaN or infinity.
template <class T>
void quantize_rows(const T* x, Index rows, Index depth, const float* given, T* codes, T* scales) {
  constexpr T limit = 127;
  parallel_for(rows, grain_of(depth), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const T* from = x + i * depth;
      T* to = codes + i * depth;
      T most = 0;
      bool finite = true;
      for (Index k = 0; k < depth; ++k) {
        most = std::max(most, std::abs(from[k]));
        finite = finite && std::abs(from[k]) <= std::numeric_limits<T>::max();
      }
      scales[i] = !finite            ? std::numeric_limits<T>::quiet_NaN()
                  : given != nullptr ? static_cast<T>(*given)
                                     : limit / (most + static_cast<T>(1e-7));
      for (Index k = 0; k < depth; ++k) {
        to[k] = std::min(std::max(std::nearbyint(from[k] * scales[i]), -limit), limit);
      }
    }
  });
}

/// out[i][n] /= scales[i]; NaN where that is NaN.
template <class T>
void divide_rows(T* out, Index rows, Index width, const T* scales) {
  parallel_for(rows, grain_of(width), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      for (Index n = 0; n < width; ++n) out[i * width + n] /= scales[i];
    }
  });
}

/// The best float product with the dequantized weight. Codes of x are floats, so that their sums are exact up to 2^24.
class Dequantized final : public Kernel {
 public:
  explicit Dequantized(const KernelRequest& request)
      : activations_(request.attributes.get<std::string>("activations")),
        depth_(request.inputs[0].shape.back()),
        width_(request.outputs[0].shape.back()),
        rows_(element_count(request.outputs[0].shape) / width_),
        dtype_(request.inputs[0].dtype),
        zero_(detail::has_zero(request.attributes)) {
    const bool transposed = request.attributes.get<bool>("transpose_b");
    const Spec weight{transposed ? Shape{width_, depth_} : Shape{depth_, width_}, dtype_};
    KernelRequest numbers{.op = &ops::dequantize,
                          .attributes = {{"bits", request.attributes.get<Index>("bits")},
                                         {"columns", request.attributes.get<Index>("columns")},
                                         {"axes", Shape{transposed ? 1 : 0}},
                                         {"block_size", request.attributes.get<Index>("block_size")},
                                         {"nf4", detail::is_nf4(request.attributes)},
                                         {"dtype", dtype_}},
                          .inputs = {request.inputs.begin() + 1, request.inputs.begin() + (zero_ ? 4 : 3)},
                          .outputs = {weight},
                          .where = request.where};
    numbers_ = choose_kernel(numbers);
    KernelRequest product{.op = &ops::matmul,
                          .attributes = {{"transpose_a", false}, {"transpose_b", transposed}},
                          .inputs = {{{rows_, depth_}, dtype_}, weight},
                          .outputs = {{{rows_, width_}, dtype_}},
                          .where = request.where};
    keep_constant(request, weight);
    product_ = choose_kernel(product);
    ScratchLayout layout;
    weight_ = layout.take(constant_ ? 0 : bytes_of(weight));
    if (activations_ != "none") {
      codes_ = layout.take(bytes_of({{rows_, depth_}, dtype_}));
      scales_ = layout.take(bytes_of({{rows_}, dtype_}));
    }
    rest_ = layout.size();
  }

  void run(const KernelArguments& arguments) override {
    auto* const scratch = static_cast<std::byte*>(arguments.scratch);
    void* weight = constant_ ? nullptr : scratch + weight_;
    if (!constant_) numbers_.kernel->run({arguments.inputs + 1, &weight, scratch + rest_});
    const void* operands[] = {arguments.inputs[0], constant_ ? constant_->data() : weight};
    if (activations_ == "none") return product_.kernel->run({operands, arguments.outputs, scratch + rest_});
    dtype_ == DType::float32 ? run_codes<float>(arguments, operands) : run_codes<double>(arguments, operands);
  }

  std::size_t scratch_bytes() const override {
    return rest_ + std::max(numbers_.kernel->scratch_bytes(), product_.kernel->scratch_bytes());
  }

  std::string detail() const override {
    return fmt::format("{} numbers, {}", constant_ ? "constant" : "dequantized", product_.implementation);
  }

 private:
  template <class T>
  void run_codes(const KernelArguments& arguments, const void** operands) {
    auto* const scratch = static_cast<std::byte*>(arguments.scratch);
    auto* const codes = reinterpret_cast<T*>(scratch + codes_);
    auto* const scales = reinterpret_cast<T*>(scratch + scales_);
    const float* given = activations_ == "static" ? arguments.in<float>(zero_ ? 4 : 3) : nullptr;
    quantize_rows(arguments.in<T>(0), rows_, depth_, given, codes, scales);
    operands[0] = codes;
    product_.kernel->run({operands, arguments.outputs, scratch + rest_});
    divide_rows(arguments.out<T>(0), rows_, width_, scales);
  }

  /// Dequantizes constants of a frozen graph once.
  void keep_constant(const KernelRequest& request, const Spec& weight) {
    std::vector<const void*> operands;
    std::string name = fmt::format("numbers {}", to_string(weight));
    for (std::size_t i = 1; i < (zero_ ? 4U : 3U); ++i) {
      const auto found = request.constants.find(i);
      if (found == request.constants.end()) return;
      operands.push_back(found->second.raw());
      const std::string_view bytes(static_cast<const char*>(found->second.raw()), found->second.bytes());
      if (i > 1) name += fmt::format(" {:x}", std::hash<std::string_view>{}(bytes));
    }
    constant_ = detail::packed_constant(request.constants.at(1), name + request.attributes.to_string(),
                                        bytes_of(weight), [&](void* to) {
                                          const auto bytes = static_cast<Index>(numbers_.kernel->scratch_bytes());
                                          Tensor scratch = Tensor::uninitialized({bytes}, DType::uint8);
                                          numbers_.kernel->run({operands.data(), &to, scratch.mutable_raw()});
                                        });
  }

  std::string activations_;
  Index depth_, width_, rows_;
  DType dtype_;
  bool zero_;
  detail::ChosenKernel numbers_, product_;
  std::shared_ptr<const detail::PackedConstant> constant_;
  std::size_t weight_ = 0, codes_ = 0, scales_ = 0, rest_ = 0;
};

std::unique_ptr<Kernel> create_dequantized(const KernelRequest& request, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  const bool floats = request.attributes.get<std::string>("activations") == "none";
  if (dtype == DType::float16 || (dtype == DType::bfloat16 && !floats)) {
    return decline(reason, "takes {}; got {}", floats ? "float32, float64 and bfloat16" : "float32 and float64", dtype);
  }
  return std::make_unique<Dequantized>(request);
}

}  // namespace

std::vector<detail::Implementation> dequantized_implementations() {
  return {{"dequantized", &ops::quantized_matmul, create_dequantized}};
}

}  // namespace mezzo
