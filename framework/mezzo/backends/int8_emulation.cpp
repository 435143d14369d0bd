#include <algorithm>
#include <utility>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/tiled_product.hpp>
#include <mezzo/backends/table.hpp>
#include <mezzo/core/int8_scale.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

using Index = std::int64_t;

/// Quantizes groups of the rows, or of the columns, of a matrix to codes that are float32 numbers. The codes of a group
/// of all rows, or columns, are a matrix of their own.
class Quantized {
 public:
  Quantized(const Spec& spec, bool by_rows, ScratchLayout& layout)
      : width_(spec.shape.back()),
        rows_(element_count(spec.shape) / width_),
        by_rows_(by_rows),
        codes_(layout.take(bytes_of(spec))),
        scales_(layout.take(static_cast<std::size_t>(lines() * groups()) * sizeof(detail::Int8Scale))) {}

  Index depth() const { return by_rows_ ? width_ : rows_; }
  Index groups() const { return detail::int8_groups(depth()); }
  Index terms(Index group) const { return std::min(detail::int8_group, depth() - group * detail::int8_group); }

  float* codes(void* scratch, Index group) const {
    return reinterpret_cast<float*>(static_cast<char*>(scratch) + codes_) + group * detail::int8_group * lines();
  }

  detail::Int8Scale* scales(void* scratch, Index group) const {
    return reinterpret_cast<detail::Int8Scale*>(static_cast<char*>(scratch) + scales_) + group * lines();
  }

  void run(const float* x, void* scratch) const {
    for (Index group = 0; group < groups(); ++group) {
      const Index first = group * detail::int8_group;
      if (by_rows_) {
        quantize_rows(x + first, terms(group), codes(scratch, group), scales(scratch, group));
      } else {
        quantize_columns(x + first * width_, terms(group), codes(scratch, group), scales(scratch, group));
      }
    }
  }

 private:
  /// Rows or columns with a scale for each group.
  Index lines() const { return by_rows_ ? rows_ : width_; }

  void quantize_rows(const float* x, Index terms, float* code, detail::Int8Scale* scale) const {
    parallel_for(rows_, grain_of(terms), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const float* const row = x + i * width_;
        scale[i] = detail::Int8Scale(detail::largest_magnitude(terms, [&](Index k) { return row[k]; }));
        for (Index k = 0; k < terms; ++k) code[i * terms + k] = scale[i].code(row[k]);
      }
    });
  }

  void quantize_columns(const float* x, Index terms, float* code, detail::Int8Scale* scale) const {
    parallel_for(width_, grain_of(terms), [&](Index begin, Index end) {
      for (Index j = begin; j < end; ++j) scale[j].scale = 0;
      for (Index k = 0; k < terms; ++k) {
        for (Index j = begin; j < end; ++j) {
          scale[j].scale = detail::larger_magnitude(scale[j].scale, x[k * width_ + j]);
        }
      }
      for (Index j = begin; j < end; ++j) scale[j] = detail::Int8Scale(scale[j].scale);
      for (Index k = 0; k < terms; ++k) {
        for (Index j = begin; j < end; ++j) code[k * width_ + j] = scale[j].code(x[k * width_ + j]);
      }
    });
  }

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
    const bool transposed = request.attributes.get_or("transpose_b", false);
    product_ = product_of(left_.terms(0), transposed, request.where);
    if (left_.groups() == 1) return;
    last_ = product_of(left_.terms(left_.groups() - 1), transposed, request.where);
    sums_ = layout_.take(static_cast<std::size_t>(rows_ * columns_) * sizeof(float));
  }

  void run(const KernelArguments& arguments) override {
    auto* const scratch = static_cast<char*>(arguments.scratch);
    left_.run(arguments.in<float>(0), scratch);
    right_.run(arguments.in<float>(1), scratch);
    const Index groups = left_.groups();
    for (Index group = 0; group < groups; ++group) {
      const void* const codes[] = {left_.codes(scratch, group), right_.codes(scratch, group)};
      void* sums[] = {groups == 1 ? arguments.outputs[0] : scratch + sums_};
      (group > 0 && group == groups - 1 ? last_ : product_).kernel->run({codes, sums, scratch + layout_.size()});
      add_group(arguments, static_cast<const float*>(sums[0]), group);
    }
  }

  std::size_t scratch_bytes() const override {
    const std::size_t of_last = last_.kernel ? last_.kernel->scratch_bytes() : 0;
    return layout_.size() + std::max(product_.kernel->scratch_bytes(), of_last);
  }
  std::string detail() const override { return "float32 " + product_.implementation; }

 private:
  detail::ChosenKernel product_of(Index terms, bool transposed, const std::string& where) const {
    const Spec right{transposed ? Shape{columns_, terms} : Shape{terms, columns_}, DType::float32};
    return choose_kernel({.op = &ops::matmul,
                          .attributes = {{"transpose_a", false}, {"transpose_b", transposed}},
                          .inputs = {{{rows_, terms}, DType::float32}, right},
                          .outputs = {{{rows_, columns_}, DType::float32}},
                          .where = where});
  }

  /// Adds products of codes in units of the operands to the result; after the last group bias and ReLU follow.
  void add_group(const KernelArguments& arguments, const float* sums, Index group) const {
    const detail::Int8Scale* const of_row = left_.scales(arguments.scratch, group);
    const detail::Int8Scale* const of_column = right_.scales(arguments.scratch, group);
    const float* const bias = biased_ ? arguments.in<float>(2) : nullptr;
    const bool last = group == left_.groups() - 1;
    parallel_for(rows_, grain_of(columns_), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        float* const y = arguments.out<float>(0) + i * columns_;
        for (Index j = 0; j < columns_; ++j) {
          float sum = detail::Int8Scale::product(sums[i * columns_ + j], of_row[i].scale, of_column[j].scale);
          if (group > 0) sum += y[j];
          y[j] = last ? reference::finish(sum, bias, j, relu_) : sum;
        }
      }
    });
  }

  ScratchLayout layout_;
  Quantized left_, right_;
  Index columns_, rows_;
  bool biased_, relu_;
  detail::ChosenKernel product_, last_;  ///< of a whole group and, if there are several, of the last one
  std::size_t sums_ = 0;
};

std::unique_ptr<Kernel> create(const KernelRequest& request, std::string& reason) {
  if (!request.attributes.has("products")) return nullptr;
  if (!is_of_float32(request, reason)) return nullptr;
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
