#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include <mezzo/backends/common/attention_shape.hpp>
#include <mezzo/backends/xsimd/attention/attention.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/products.hpp>

namespace mezzo::xsimd_kernels {

/// Rows of the next head, which are fetched into the L2 cache a few lines at a time while products of this head run.
/// Rows of one head are too far apart for the hardware prefetcher.
class NextRows {
 public:
  using Index = std::int64_t;

  /// Adds rows of elements of `bytes` bytes.
  void add(const HeadRows& rows, Index bytes) {
    const Index row_bytes = rows.columns * bytes;
    pieces_[count_++] = {static_cast<const char*>(rows.data), rows.step * bytes, rows.rows, row_bytes};
    lines_ += rows.rows * ((row_bytes + Prefetch::line_bytes - 1) / Prefetch::line_bytes);
  }
  /// Divides the lines among so many calls of next_turn().
  void divide(Index turns) { of_turn_ = lines_ / std::max<Index>(turns, 1) + 1; }

  Prefetch next_turn() {
    while (running_.next >= running_.end && at_ < count_) {
      const Piece& piece = pieces_[at_];
      if (offset_ >= piece.row_bytes) {
        ++at_;
        offset_ = 0;
      } else {
        const char* const first = piece.data + offset_;
        running_ = {first, first + piece.rows * piece.step, piece.step};
        offset_ += Prefetch::line_bytes;
      }
    }
    return running_.take(of_turn_);
  }

 private:
  struct Piece {
    const char* data;
    Index step, rows, row_bytes;  ///< step: bytes from row to row
  };
  std::array<Piece, 8> pieces_{};
  std::size_t count_ = 0, at_ = 0;
  Index lines_ = 0, of_turn_ = 0, offset_ = 0;
  Prefetch running_;
};

/// An operand or result with `size` numbers at each of the positions of a head.
struct HeadOperand {
  const void* data;
  std::int64_t positions, size;
};

/// Parts of attention and its gradient. Both process a block of queries at a time with all keys of its head. Operands
/// and results of the matrix products are float32, in scratch memory of the thread that stays in its cache.
class AttentionHeads {
 public:
  using Index = std::int64_t;

  /// `first`: index of the input that is the query.
  AttentionHeads(const KernelRequest& request, std::size_t first, Isa isa)
      : shape(request, first),
        functions(kernels(isa).attention),
        products(kernels(isa).products),
        dtype(request.inputs[first].dtype),
        bytes(size_of(request.inputs[first].dtype)),
        least_(static_cast<std::int32_t>(std::ceil(static_cast<float>(shape.rate) * 0x1p24F))) {}

  /// Queries of a block: a multiple of the rows that a product processes together. All queries of a block are
  /// multiplied with the keys of its last one, so blocks are small if earlier ones attend to fewer.
  Index block() const { return shape.causal ? 24 : 48; }

  /// Calls body(first, count) for each block: its first query and their number.
  template <class Body>
  void for_blocks(const Body& body) const {
    for (Index first = 0; first < shape.queries; first += block())
      body(first, std::min(block(), shape.queries - first));
  }

  /// Columns rounded up to whole panels of the products.
  Index padded(Index columns) const { return round_up(columns, products.panel); }
  Index scores_width() const { return spread_width(padded(shape.keys)); }

  /// Panels of products with that many columns, in all blocks of queries.
  Index turns(Index columns) const {
    return (shape.queries + block() - 1) / block() * (padded(columns) / products.panel);
  }
  /// Panels of products whose columns are the keys that a block of queries attends to.
  Index turns_of_scores() const {
    Index turns = 0;
    for_blocks([&](Index first, Index count) {
      turns += padded(visible_keys(first + count - 1, shape.keys, shape.causal)) / products.panel;
    });
    return turns;
  }

  /// `count` rows from position `first` of a head on, of an operand with `positions` positions of `size` numbers.
  HeadRows rows(const void* operand, Index head, Index positions, Index size, Index first, Index count) const {
    const Index place = ((head / shape.heads * positions + first) * shape.heads + head % shape.heads) * size;
    return {.data = const_cast<char*>(static_cast<const char*>(operand)) + place * bytes,
            .step = shape.heads * size,
            .rows = count,
            .columns = size};
  }

  /// The scores of `count` queries from `first` on, in the memory of `data`.
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
      r.first_word = shape.first_word(shape.first_sample(arguments) + b, h, first);
      r.words_step = shape.first_word(0, 0, 1);
    }
    return r;
  }

  DropoutRule dropout_rule(const KernelArguments& arguments) const {
    return {.stream = shape.stream(arguments), .least = least_, .divisor = static_cast<float>(1 - shape.rate)};
  }

  /// Rows of these operands and results in the head after this one, none after the last head, divided among `panels`
  /// panels of multiply().
  NextRows next_rows(Index head, std::initializer_list<HeadOperand> operands, Index panels) const {
    NextRows next;
    if (head + 1 < shape.batch * shape.heads) {
      for (const HeadOperand& one : operands) {
        next.add(rows(one.data, head + 1, one.positions, one.size, 0, one.positions), bytes);
      }
    }
    next.divide(panels);
    return next;
  }

  /// out = a b, panel by panel of the columns of b. Fetches a part of `next` with each panel.
  void multiply(const FloatRows& a, const FloatRows& b, const FloatRows& out, Index rows, Index depth, Index columns,
                NextRows& next) const {
    for (Index c = 0; c < columns; c += products.panel) {
      PanelProduct p = panel_product(a, b, out, rows, depth, c, false);
      p.ahead = next.next_turn();
      products.product(p);
    }
  }
  /// out += a^T b
  void add_transposed(const FloatRows& a, const FloatRows& b, const FloatRows& out, Index rows, Index depth,
                      Index columns) const {
    for (Index c = 0; c < columns; c += products.panel) {
      products.transposed_product(panel_product(a, b, out, rows, depth, c, true));
    }
  }

  AttentionShape shape;
  const AttentionFunctions& functions;
  const ProductFunctions& products;
  DType dtype;
  Index bytes;  ///< of an element

 private:
  static PanelProduct panel_product(const FloatRows& a, const FloatRows& b, const FloatRows& out, Index rows,
                                    Index depth, Index column, bool accumulate) {
    return {.a = a.data,
            .a_width = a.width,
            .b = b.data + column,
            .b_width = b.width,
            .out = out.data + column,
            .out_width = out.width,
            .rows = rows,
            .depth = depth,
            .accumulate = accumulate};
  }

  std::int32_t least_;
};

/// Allocates matrices in the scratch memory of a thread, each in cache lines of its own. With a null address it only
/// adds up the sizes.
class FloatPieces {
 public:
  explicit FloatPieces(float* at) : at_(at) {}
  FloatRows take(std::int64_t rows, std::int64_t width) {
    constexpr std::int64_t line = 16;  // floats
    const FloatRows piece{at_, width};
    const std::int64_t count = round_up(rows * width, line);
    if (at_ != nullptr) at_ += count;
    taken_ += count;
    return piece;
  }
  std::int64_t taken() const { return taken_; }

 private:
  float* at_;
  std::int64_t taken_ = 0;
};

/// A kernel that calls run_head(heads, arguments, head, space, rule) for each head. Space(heads, at) lays out the
/// scratch memory of a thread. `query`: index of the input that is the query.
template <class Heads, class Space, class RunHead>
std::unique_ptr<Kernel> make_head_kernel(const KernelRequest& request, std::size_t query, Isa isa, std::string& reason,
                                         RunHead run_head) {
  const DType dtype = request.inputs[query].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const Heads heads(request, query, isa);
  const HeadThreads threads(heads.shape, Space(heads, nullptr).taken);
  const auto run = [heads, threads, run_head](const KernelArguments& arguments) {
    const DropoutRule rule = heads.dropout_rule(arguments);
    threads.for_heads<float>(arguments.scratch, [&](std::int64_t head, float* numbers) {
      run_head(heads, arguments, head, Space(heads, numbers), rule);
    });
  };
  return make_kernel(run, {}, threads.bytes<float>());
}

/// Defined in forward.cpp, gradient.cpp and cached.cpp.
std::unique_ptr<Kernel> make_scaled_dot_product_attention(const KernelRequest& request, Isa isa, std::string& reason);
std::unique_ptr<Kernel> make_scaled_dot_product_attention_gradient(const KernelRequest& request, Isa isa,
                                                                   std::string& reason);
std::unique_ptr<Kernel> make_cached_attention(const KernelRequest& request, Isa isa, std::string& reason);

}  // namespace mezzo::xsimd_kernels
