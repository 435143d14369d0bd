#include <mezzo/backends/xsimd/recurrence/packed_kernel.hpp>

#include <mezzo/backends/xsimd/products.hpp>

#include <algorithm>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// Packs a panel: to[row, column] = from[row * row_step + column * column_step], with 0 outside of the matrix. Rows lie
/// interleaved in groups of `group`.
template <class From, class To>
void pack_panel(const From* from, Index rows, Index columns, Index row_step, Index column_step, Index panel,
                Index group, To* to) {
  std::fill_n(to, round_up(rows, group) * panel, To(0.0F));
  for (Index row = 0; row < rows; ++row) {
    To* line = to + row / group * group * panel + row % group;
    for (Index column = 0; column < columns; ++column) {
      line[column * group] = static_cast<To>(static_cast<float>(from[row * row_step + column * column_step]));
    }
  }
}

}  // namespace

PackedKernel::PackedKernel(Index units, Index width, Index groups, bool transposed, DType dtype, Isa isa)
    : products_(&kernels(isa).products),
      width_(width),
      groups_(groups),
      depth_(transposed ? width / groups : units),
      columns_(transposed ? units : width / groups),
      panels_((columns_ + products_->panel - 1) / products_->panel),
      transposed_(transposed),
      narrow_(dtype == DType::bfloat16 && multiplies_pairs(*products_)),
      dtype_(dtype),
      factor_width_(narrow_ ? 2 * spread_width((depth_ + 1) / 2) : spread_width(depth_)),
      product_width_(spread_width(groups * group_step())) {}

std::size_t PackedKernel::factor_bytes(Index rows) const {
  return static_cast<std::size_t>(rows * factor_width_) * (narrow_ ? sizeof(bfloat16) : sizeof(float));
}

std::size_t PackedKernel::packed_bytes() const {
  const Index rows = narrow_ ? round_up(depth_, 2) : depth_;
  return static_cast<std::size_t>(rows * groups_ * group_step()) * (narrow_ ? sizeof(bfloat16) : sizeof(float));
}

void PackedKernel::pack(const void* kernel, void* packed) const {
  const Index panel = products_->panel, group = narrow_ ? 2 : 1;
  const Index row_step = transposed_ ? 1 : width_, column_step = transposed_ ? width_ : 1;
  const auto pack_as = [&](const auto* from, auto* to) {
    parallel_for(groups_ * panels_, grain_of(depth_ * panel), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const Index column = i % panels_ * panel;
        pack_panel(from + i / panels_ * (width_ / groups_) + column * column_step, depth_,
                   std::min(panel, columns_ - column), row_step, column_step, panel, group,
                   to + i * panel * round_up(depth_, group));
      }
    });
  };
  if (narrow_) {
    pack_as(static_cast<const bfloat16*>(kernel), static_cast<bfloat16*>(packed));
  } else if (dtype_ == DType::float32) {
    pack_as(static_cast<const float*>(kernel), static_cast<float*>(packed));
  } else if (dtype_ == DType::bfloat16) {
    pack_as(static_cast<const bfloat16*>(kernel), static_cast<float*>(packed));
  } else {
    pack_as(static_cast<const float16*>(kernel), static_cast<float*>(packed));
  }
}

void PackedKernel::multiply(const void* factors, const void* packed, float* out, Index first, Index rows,
                            Index group) const {
  const Index panel = products_->panel;
  for (Index i = group * panels_; i < (group + 1) * panels_; ++i) {
    float* to = out + first * product_width_ + i * panel;
    if (narrow_) {
      products_->pair_product({.a = static_cast<const bfloat16*>(factors) + first * factor_width_,
                               .a_width = factor_width_,
                               .b = static_cast<const bfloat16*>(packed) + i * panel * round_up(depth_, 2),
                               .out = to,
                               .out_width = product_width_,
                               .rows = rows,
                               .pairs = (depth_ + 1) / 2});
    } else {
      products_->product({.a = static_cast<const float*>(factors) + first * factor_width_,
                          .a_width = factor_width_,
                          .b = static_cast<const float*>(packed) + i * panel * depth_,
                          .b_width = panel,
                          .out = to,
                          .out_width = product_width_,
                          .rows = rows,
                          .depth = depth_});
    }
  }
}

}  // namespace mezzo::xsimd_kernels
