#pragma once
#include <cmath>

#include <mezzo/backends/common/attention_shape.hpp>
#include <mezzo/backends/xsimd/attention/attention.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/products.hpp>

namespace mezzo::xsimd_kernels {

/// What both directions of attention share: a block of queries at a time meets all keys of its head. Everything that
/// the products read or write is float32 in a thread's part of scratch, which stays in its cache.
class AttentionHeads {
 public:
  using Index = std::int64_t;

  AttentionHeads(const KernelRequest& request, std::size_t first, Isa isa)
      : shape(request, first),
        functions(pick(isa, sse2::attention, avx2::attention, avx512::attention, avx512_bf16::attention)),
        products(product_functions(isa)),
        storage(storage_of(request.inputs[first].dtype)),
        bytes(size_of(request.inputs[first].dtype)),
        least_(static_cast<std::int32_t>(std::ceil(static_cast<float>(shape.rate) * 0x1p24F))) {}

  /// Queries of a block: whole blocks of the products.
  static constexpr Index block = 48;

  Index padded(Index columns) const { return round_up(columns, products.panel); }
  Index scores_width() const { return spread_width(padded(shape.keys)); }

  /// Rows of an operand with that many positions and numbers a position, from position `first` of a head on.
  HeadRows rows(const void* operand, Index head, Index positions, Index size, Index first, Index count) const {
    const Index place = ((head / shape.heads * positions + first) * shape.heads + head % shape.heads) * size;
    return {const_cast<char*>(static_cast<const char*>(operand)) + place * bytes, shape.heads * size, count, size};
  }

  ScoreRows scores(const KernelArguments& arguments, Index head, Index first, Index count, const FloatRows& data,
                   const DropoutRule& rule) const {
    ScoreRows r;
    r.scores = data;
    r.rows = count;
    r.keys = shape.keys;
    r.first_query = first;
    r.causal = shape.causal;
    const Index b = head / shape.heads, h = head % shape.heads;
    if (shape.masked) {
      r.boolean_mask = shape.boolean_mask;
      const Index size = r.boolean_mask ? 1 : sizeof(float);
      r.mask = static_cast<const char*>(shape.mask(arguments)) + shape.mask_row(b, h, first) * size;
      r.mask_step = shape.mask_strides[2];
    }
    if (shape.rate > 0) {
      r.dropout = &rule;
      r.first_word = shape.first_word(b, h, first);
      r.words_step = shape.first_word(0, 0, 1);
    }
    return r;
  }

  DropoutRule dropout_rule(const KernelArguments& arguments) const {
    return {shape.stream(arguments), least_, static_cast<float>(1 - shape.rate)};
  }

  /// out (+)= a b, of panels of b's columns.
  void multiply(const FloatRows& a, const FloatRows& b, const FloatRows& out, Index rows, Index depth,
                Index columns) const {
    for (Index c = 0; c < columns; c += products.panel) {
      products.product({a.data, a.width, b.data + c, b.width, out.data + c, out.width, rows, depth, false});
    }
  }
  /// out += a^T b
  void add_transposed(const FloatRows& a, const FloatRows& b, const FloatRows& out, Index rows, Index depth,
                      Index columns) const {
    for (Index c = 0; c < columns; c += products.panel) {
      products.transposed_product({a.data, a.width, b.data + c, b.width, out.data + c, out.width, rows, depth, true});
    }
  }

  AttentionShape shape;
  const AttentionFunctions& functions;
  const ProductFunctions& products;
  std::size_t storage;
  Index bytes;

 private:
  std::int32_t least_;
};

/// Hands out matrices of a thread's numbers.
class FloatPieces {
 public:
  explicit FloatPieces(float* at) : at_(at) {}
  FloatRows take(std::int64_t rows, std::int64_t width) {
    const FloatRows piece{at_, width};
    if (at_ != nullptr) at_ += rows * width;
    taken_ += rows * width;
    return piece;
  }
  std::int64_t taken() const { return taken_; }

 private:
  float* at_;
  std::int64_t taken_ = 0;
};

/// A kernel that calls run_head(heads, arguments, head, space, rule) for each head; Space(heads, at) lays out a
/// thread's numbers. The query is input `query`.
template <class Space, class RunHead>
std::unique_ptr<Kernel> make_head_kernel(const KernelRequest& request, std::size_t query, Isa isa, std::string& reason,
                                         RunHead run_head) {
  const DType dtype = request.inputs[query].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const AttentionHeads heads(request, query, isa);
  const HeadThreads threads(heads.shape, Space(heads, nullptr).taken);
  const auto run = [heads, threads, run_head](const KernelArguments& arguments) {
    const DropoutRule rule = heads.dropout_rule(arguments);
    threads.for_heads<float>(arguments.scratch, [&](std::int64_t head, float* numbers) {
      run_head(heads, arguments, head, Space(heads, numbers), rule);
    });
  };
  return make_kernel(run, {}, threads.bytes<float>());
}

}  // namespace mezzo::xsimd_kernels
