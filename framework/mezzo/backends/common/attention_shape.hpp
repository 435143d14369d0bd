#pragma once
#include <algorithm>

#include <mezzo/backends/common/random.hpp>
#include <mezzo/compiler/kernel.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo {

/// Number of keys that a query may attend to without a mask.
inline std::int64_t visible_keys(std::int64_t query, std::int64_t keys, bool causal) {
  return causal && query + 1 < keys ? query + 1 : keys;
}

/// Sizes and attributes of scaled_dot_product_attention, or of its gradient.
struct AttentionShape {
  using Index = std::int64_t;

  Index batch, heads, queries, keys, size, value_size;
  double scale, rate;
  bool causal;
  bool masked, boolean_mask = false;
  Index mask_strides[4] = {0, 0, 0, 0};  ///< in elements, along batch, heads, queries, keys; 0 on broadcast axes

  /// `first`: index of the input that is the query: 0, or 1 for the gradient.
  AttentionShape(const KernelRequest& request, std::size_t first)
      : batch(request.inputs[first].shape[0]),
        heads(request.inputs[first].shape[2]),
        queries(request.inputs[first].shape[1]),
        keys(request.inputs[first + 1].shape[1]),
        size(request.inputs[first].shape[3]),
        value_size(request.inputs[first + 2].shape[3]),
        scale(request.attributes.get<double>("scale")),
        rate(request.attributes.get<double>("rate")),
        causal(request.attributes.get<bool>("causal")),
        masked(request.attributes.get<bool>("masked")),
        key_(request.attributes.get<Index>("key")),
        mask_input_(first == 0 ? 3 : 6),
        scalars_(mask_input_ + (masked ? 1 : 0)),
        counts_(rate > 0 && request.inputs.size() > scalars_ + 2) {
    if (!masked) return;
    const Spec& mask = request.inputs[mask_input_];
    boolean_mask = mask.dtype == DType::boolean;
    const Shape strides = detail::row_major_strides(mask.shape);
    for (std::size_t axis = 0; axis < mask.shape.size(); ++axis) {
      if (mask.shape[axis] != 1) mask_strides[4 - mask.shape.size() + axis] = strides[axis];
    }
  }

  /// Offset of the mask's row for a query of a head, in elements.
  Index mask_row(Index b, Index h, Index query) const {
    return b * mask_strides[0] + h * mask_strides[1] + query * mask_strides[2];
  }
  const void* mask(const KernelArguments& arguments) const { return masked ? arguments.inputs[mask_input_] : nullptr; }

  /// @name Dropout
  /// The random word of weight j of a query is philox(stream, n / 4)[n % 4], n = first_word(b, h, query) + j, as in the
  /// op dropout. b counts from first_sample(). Rows begin at multiples of 64, so that kernels can generate 64 words at
  /// once.
  /// @{
  std::uint64_t stream(const KernelArguments& arguments) const {
    return rate > 0 ? step_stream(key_, *arguments.in<double>(scalars_), *arguments.in<double>(scalars_ + 1)) : 0;
  }
  /// Index of the batch's first sample among all samples that draw random numbers; 0 except for a part of a batch.
  Index first_sample(const KernelArguments& arguments) const {
    return counts_ ? static_cast<Index>(*arguments.in<double>(scalars_ + 2)) : 0;
  }
  Index first_word(Index b, Index h, Index query) const {
    return ((b * heads + h) * queries + query) * ((keys + 63) / 64 * 64);
  }
  /// @}

 private:
  Index key_;
  std::size_t mask_input_, scalars_;  // seed, step and possibly the first sample
  bool counts_;
};

/// Distributes heads over threads. Each thread has its own numbers in scratch memory.
class HeadThreads {
 public:
  using Index = std::int64_t;

  /// `numbers`: count of numbers of a thread.
  HeadThreads(const AttentionShape& shape, Index numbers)
      : heads_(shape.batch * shape.heads), numbers_(numbers), most_(std::min<Index>(thread_count(), heads_)) {}

  /// Scratch memory of all threads.
  template <class Number>
  std::size_t bytes() const {
    return static_cast<std::size_t>(most_ * numbers_) * sizeof(Number);
  }

  /// Calls body(index of a head, numbers of the calling thread) for each head.
  template <class Number, class Body>
  void for_heads(void* scratch, const Body& body) const {
    if (heads_ == 0) return;
    parallel_threads(static_cast<int>(std::min<Index>(most_, thread_count())), [&](int thread, int threads) {
      Number* numbers = static_cast<Number*>(scratch) + thread * numbers_;
      for (Index i = heads_ * thread / threads; i < heads_ * (thread + 1) / threads; ++i) body(i, numbers);
    });
  }

 private:
  Index heads_, numbers_, most_;  // most_: largest number of threads
};

}  // namespace mezzo
