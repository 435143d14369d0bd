#include <utility>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/table.hpp>
#include <mezzo/core/int8_scale.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

using Index = std::int64_t;

/// Quantizes the rows, or the columns, of a matrix to codes that are float32 numbers.
class Quantized {
 public:
  Quantized(const Spec& spec, bool by_rows, ScratchLayout& layout)
      : width_(spec.shape.back()),
        rows_(element_count(spec.shape) / width_),
        by_rows_(by_rows),
        codes_(layout.take(bytes_of(spec))),
        scales_(layout.take(static_cast<std::size_t>(by_rows ? rows_ : width_) * sizeof(detail::Int8Scale))) {}

  float* codes(void* scratch) const { return reinterpret_cast<float*>(static_cast<char*>(scratch) + codes_); }

  detail::Int8Scale* scales(void* scratch) const {
    return reinterpret_cast<detail::Int8Scale*>(static_cast<char*>(scratch) + scales_);
  }

  void run(const float* x, void* scratch) const {
    detail::Int8Scale* const scale = scales(scratch);
    float* const code = codes(scratch);
    if (by_rows_) {
      parallel_for(rows_, grain_of(width_), [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
          const float* const row = x + i * width_;
          scale[i] = detail::Int8Scale(detail::largest_magnitude(width_, [&](Index k) { return row[k]; }));
          for (Index k = 0; k < width_; ++k) code[i * width_ + k] = scale[i].code(row[k]);
        }
      });
      return;
    }
    parallel_for(width_, grain_of(rows_), [&](Index begin, Index end) {
      for (Index j = begin; j < end; ++j) scale[j].scale = 0;
      for (Index k = 0; k < rows_; ++k) {
        for (Index j = begin; j < end; ++j) {
          scale[j].scale = detail::larger_magnitude(scale[j].scale, x[k * width_ + j]);
        }
      }
      for (Index j = begin; j < end; ++j) scale[j] = detail::Int8Scale(scale[j].scale);
      for (Index k = 0; k < rows_; ++k) {
        for (Index j = begin; j < end; ++j) code[k * width_ + j] = scale[j].code(x[k * width_ + j]);
      }
    });
  }

 private:
  Index width_, rows_;
  bool by_rows_;
  std::size_t codes_, scales_;
};

class EmulatedMatmul final : public Kernel {
 public:
  explicit EmulatedMatmul(const KernelRequest& request)
      : left_(request.inputs[0], true, layout_),
        right_(request.inputs[1], request.attributes.get_or("transpose_b", false), layout_),
        columns_(request.outputs[0].shape.back()),
        rows_(element_count(request.outputs[0].shape) / columns_),
        biased_(request.inputs.size() > 2),
        relu_(has_relu(request)) {
    KernelRequest product{
        .op = &ops::matmul,
        .attributes = {{"transpose_a", false}, {"transpose_b", request.attributes.get_or("transpose_b", false)}},
        .inputs = {request.inputs[0], request.inputs[1]},
        .outputs = request.outputs,
        .where = request.where};
    product_ = choose_kernel(product);
  }

  void run(const KernelArguments& arguments) override {
    void* const scratch = arguments.scratch;
    left_.run(arguments.in<float>(0), scratch);
    right_.run(arguments.in<float>(1), scratch);
    const void* const codes[] = {left_.codes(scratch), right_.codes(scratch)};
    product_.kernel->run({codes, arguments.outputs, static_cast<char*>(scratch) + layout_.size()});
    const detail::Int8Scale *const of_row = left_.scales(scratch), *const of_column = right_.scales(scratch);
    const float* const bias = biased_ ? arguments.in<float>(2) : nullptr;
    parallel_for(rows_, grain_of(columns_), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        float* const y = arguments.out<float>(0) + i * columns_;
        for (Index j = 0; j < columns_; ++j) {
          float sum = detail::Int8Scale::product(y[j], of_row[i].scale, of_column[j].scale);
          if (bias != nullptr) sum += bias[j];
          y[j] = relu_ && sum <= 0 ? 0 : sum;  // a NaN stays
        }
      }
    });
  }

  std::size_t scratch_bytes() const override { return layout_.size() + product_.kernel->scratch_bytes(); }
  std::string detail() const override { return "float32 " + product_.implementation; }

 private:
  ScratchLayout layout_;
  Quantized left_, right_;
  Index columns_, rows_;
  bool biased_, relu_;
  detail::ChosenKernel product_;
};

std::unique_ptr<Kernel> create(const KernelRequest& request, std::string& reason) {
  if (!request.attributes.has("products")) return nullptr;
  for (const auto* specs : {&request.inputs, &request.outputs}) {
    for (const Spec& spec : *specs) {
      if (spec.dtype != DType::float32) return decline(reason, "takes float32; got {}", spec.dtype);
    }
  }
  if (request.inputs[1].shape.size() != 2 || request.attributes.get_or("transpose_a", false)) {
    return decline(reason, "takes a plain left operand and one matrix");
  }
  return std::make_unique<EmulatedMatmul>(request);
}

}  // namespace

std::vector<detail::Implementation> int8_emulation() {
  return without_wide_epilogues({{"emulated", &ops::matmul, create, true}});
}

}  // namespace mezzo
