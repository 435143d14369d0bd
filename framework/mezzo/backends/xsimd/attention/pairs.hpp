#pragma once
#include <cstring>

#include <mezzo/backends/xsimd/attention/heads.hpp>
#include <mezzo/backends/xsimd/products.hpp>

namespace mezzo::xsimd_kernels {

/// A right factor of products in pairs: panels of columns, `pitch` words apart.
struct PairPanels {
  bfloat16* data = nullptr;
  std::int64_t pitch = 0;
};

/// Attention of bfloat16 operands where products of pairs are faster than those of float32. Scores, sums and the
/// gradients of keys and values are float32; weights and cotangents of scores are rounded to bfloat16.
class PairHeads : public AttentionHeads {
 public:
  using AttentionHeads::AttentionHeads;

  /// True if these kernels support the request, whose input `query` is the query.
  static bool take(const KernelRequest& request, std::size_t query, Isa isa) {
    const AttentionShape shape(request, query);
    return request.inputs[query].dtype == DType::bfloat16 && multiplies_pairs(kernels(isa).products) &&
           shape.size % 2 == 0 && shape.value_size % 2 == 0;
  }

  static Index pairs(Index count) { return (count + 1) / 2; }

  /// Copies rows, with an even number of columns, without gaps.
  static PairRows copy(const HeadRows& rows, const PairRows& to) {
    for (Index row = 0; row < rows.rows; ++row) {
      std::memcpy(to.data + 2 * row * to.width, static_cast<const bfloat16*>(rows.data) + row * rows.step,
                  static_cast<std::size_t>(rows.columns) * sizeof(bfloat16));
    }
    return to;
  }

  /// Packs the transpose of rows as a right factor.
  void transpose(const HeadRows& rows, const PairPanels& to) const {
    functions.transpose_pairs(rows, to.pitch, to.data);
  }

  /// Packs rows as a right factor.
  void pack(const HeadRows& rows, const PairPanels& to) const {
    products.pack_pairs.panels({.from = static_cast<const bfloat16*>(rows.data),
                                .width = rows.step,
                                .rows = rows.rows,
                                .columns = rows.columns,
                                .to = to.data,
                                .pitch = 2 * to.pitch});
  }

  /// out = a b
  void multiply(const PairRows& a, const PairPanels& b, const FloatRows& out, Index rows, Index depth,
                Index columns) const {
    for (Index c = 0; c < columns; c += products.panel) {
      products.pair_product(product(a, b, out, rows, depth, c));
    }
  }
  /// out += a^T b. a has interleaved rows.
  void add_transposed(const PairRows& a, const PairPanels& b, const FloatRows& out, Index rows, Index depth,
                      Index columns) const {
    for (Index c = 0; c < columns; c += products.panel) {
      PairProduct p = product(a, b, out, rows, depth, c);
      p.accumulate = true;
      products.transposed_pair_product(p);
    }
  }

 private:
  PairProduct product(const PairRows& a, const PairPanels& b, const FloatRows& out, Index rows, Index depth,
                      Index column) const {
    return {.a = a.data,
            .a_width = 2 * a.width,
            .b = b.data + 2 * (column / products.panel * b.pitch),
            .out = out.data + column,
            .out_width = out.width,
            .rows = rows,
            .pairs = pairs(depth)};
  }
};

/// Allocates factors in the scratch memory of a thread.
class PairPieces {
 public:
  PairPieces(const PairHeads& heads, float* at) : heads_(heads), pieces_(at) {}

  FloatRows floats(std::int64_t rows, std::int64_t width) { return pieces_.take(rows, width); }
  PairRows rows(std::int64_t rows, std::int64_t words) {
    return {reinterpret_cast<bfloat16*>(pieces_.take(rows, words).data), words};
  }
  PairPanels panels(std::int64_t depth, std::int64_t columns) {
    constexpr std::int64_t line = 16;  // words that keep panels from sharing a set of the cache
    const std::int64_t panel = heads_.products.panel, pitch = PairHeads::pairs(depth) * panel + line;
    return {reinterpret_cast<bfloat16*>(pieces_.take(heads_.padded(columns) / panel, pitch).data), pitch};
  }
  std::int64_t taken() const { return pieces_.taken(); }

 private:
  const PairHeads& heads_;
  FloatPieces pieces_;
};

/// Defined in forward_pairs.cpp and gradient_pairs.cpp.
std::unique_ptr<Kernel> make_attention_of_pairs(const KernelRequest& request, Isa isa, std::string& reason);
std::unique_ptr<Kernel> make_attention_gradient_of_pairs(const KernelRequest& request, Isa isa, std::string& reason);

}  // namespace mezzo::xsimd_kernels
