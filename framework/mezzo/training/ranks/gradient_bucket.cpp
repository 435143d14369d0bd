#include <mezzo/training/ranks/gradient_bucket.hpp>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::detail {
namespace {

/// Calls body(one element of T) for the type of a floating dtype.
template <class Body>
void visit_floating(DType dtype, const Body& body) {
  if (dtype == DType::float32) return body(float());
  if (dtype == DType::float64) return body(double());
  if (dtype == DType::bfloat16) return body(bfloat16());
  if (dtype == DType::float16) return body(float16());
  fail<DTypeError>("[Trainer]", "gradients must be floating; got {}", dtype);
}

/// Type from which T is converted.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Type in which numbers that are sent as T are computed.
template <class T>
using Computed = std::conditional_t<std::is_same_v<T, bfloat16>, float, T>;

constexpr std::int64_t block_size = 1024;  // elements

/// Calls body(begin, end) for blocks of elements, on several threads.
template <class Body>
void for_blocks(std::int64_t count, const Body& body) {
  parallel_for((count + block_size - 1) / block_size, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i * block_size, std::min(count, (i + 1) * block_size));
  });
}

}  // namespace

GradientBucket::GradientBucket(std::shared_ptr<Communicator> communicator, std::vector<BucketItem> items,
                               std::size_t share)
    : communicator_(std::move(communicator)), items_(std::move(items)), share_(share) {
  lay_out();
  for (const BucketItem& item : items_) results_.push_back(item.result);
}

GradientBucket::GradientBucket(std::shared_ptr<Communicator> communicator,
                               const std::vector<std::vector<BucketItem>>& items, std::size_t share)
    : communicator_(std::move(communicator)), share_(share) {
  for (const auto& of_rank : items) {
    rank_begins_.push_back(items_.size());
    items_.insert(items_.end(), of_rank.begin(), of_rank.end());
  }
  rank_begins_.push_back(items_.size());
  lay_out();
  const auto rank = static_cast<std::size_t>(communicator_->rank());
  first_ = rank_begins_[rank];
  for (const BucketItem& item : items[rank]) results_.push_back(item.result);
}

GradientBucket::~GradientBucket() { settle(); }

void GradientBucket::lay_out() {
  std::int64_t size = 0;
  bool wide = false, compressed = false;
  for (const BucketItem& item : items_) {
    begins_.push_back(size);
    size += element_count(item.result.shape);
    wide = wide || item.result.dtype == DType::float64;
    compressed = compressed || item.errors;
  }
  begins_.push_back(size);
  const auto count = static_cast<std::size_t>(size);
  if (compressed) {
    sums_ = std::vector<bfloat16>(count);
    const int rank = communicator_->rank();
    const auto of_rank = static_cast<std::size_t>(rank);
    const std::int64_t own = rank_begins_.empty()
                                 ? communicator_->part_begin(size, rank + 1) - communicator_->part_begin(size, rank)
                                 : begins_[rank_begins_[of_rank + 1]] - begins_[rank_begins_[of_rank]];
    own_sums_.resize(static_cast<std::size_t>(own));
  } else if (wide) {
    sums_ = std::vector<double>(count);
  } else {
    sums_ = std::vector<float>(count);
  }
}

/// Returns when no operation is running.
void GradientBucket::settle() const {
  try {
    request_.wait();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): finish() or the next operation throws it
  }
}

void GradientBucket::start(const KernelRequest& request, const KernelArguments& arguments) const {
  settle();  // of a step that an error has ended
  std::visit(
      [&](auto& sums) {
        for (std::size_t i = 0; i < items_.size(); ++i) load(request, arguments, i, sums.data() + begins_[i]);
        send(sums);
      },
      sums_);
  *arguments.out<double>(0) = 0;
}

template <class Sent>
void GradientBucket::load(const KernelRequest& request, const KernelArguments& arguments, std::size_t item,
                          Sent* to) const {
  using Number = Computed<Sent>;
  const BucketItem& from = items_[item];
  const double share = from.weighted ? *arguments.in<double>(share_) : 1;
  const auto factor = static_cast<Number>(share * (from.factor ? *arguments.in<double>(*from.factor) : 1));
  for_blocks(begins_[item + 1] - begins_[item], [&](std::int64_t begin, std::int64_t end) {
    std::array<Number, block_size> x;  // NOLINT(cppcoreguidelines-pro-type-member-init): multiply() or fill() sets it
    const auto count = static_cast<std::size_t>(end - begin);
    const auto multiply = [&](std::size_t input, DType dtype, Number times, bool adds) {
      visit_floating(dtype, [&](auto zero) {
        using T = decltype(zero);
        const T* const in = arguments.in<T>(input) + begin;
        for (std::size_t i = 0; i < count; ++i) {
          const Number product = static_cast<Number>(static_cast<Wide<T>>(in[i])) * times;
          x[i] = adds ? x[i] + product : product;
        }
      });
    };
    if (share != 0) {
      multiply(from.value, request.inputs[from.value].dtype, factor, false);
    } else {  // a rank without samples adds nothing, even if its numbers are not finite
      std::fill_n(x.begin(), count, Number{0});
    }
    if (from.sum) multiply(*from.sum, from.result.dtype, 1, true);
    float* const errors = from.errors ? from.errors->data() + begin : nullptr;
    for (std::size_t i = 0; errors != nullptr && i < count; ++i) x[i] += static_cast<Number>(errors[i]);
    for (std::size_t i = 0; i < count; ++i) to[begin + static_cast<std::int64_t>(i)] = static_cast<Sent>(x[i]);
    for (std::size_t i = 0; errors != nullptr && i < count; ++i) {
      const auto sent = static_cast<Number>(static_cast<Computed<Sent>>(to[begin + static_cast<std::int64_t>(i)]));
      errors[i] = static_cast<float>(x[i] - sent);
    }
  });
}

template <class Sent>
void GradientBucket::send(std::vector<Sent>& sums) const {
  constexpr DType dtype = DTypeOf<Sent>::value;
  const RankArray all{sums.data(), begins_.back(), dtype};
  start_ = std::chrono::steady_clock::now();
  if constexpr (std::is_same_v<Sent, bfloat16>) {
    request_ = rank_begins_.empty() ? communicator_->start_all_reduce(all, own_sums_.data())
                                    : communicator_->start_reduce_scatter(parts_of(sums), own_sums_.data());
  } else {
    request_ = rank_begins_.empty() ? communicator_->start_all_reduce(all)
                                    : communicator_->start_reduce_scatter(parts_of(sums));
  }
}

template <class Sent>
std::vector<RankArray> GradientBucket::parts_of(std::vector<Sent>& sums) const {
  std::vector<RankArray> parts;
  for (std::size_t rank = 0; rank + 1 < rank_begins_.size(); ++rank) {
    const std::int64_t begin = begins_[rank_begins_[rank]], end = begins_[rank_begins_[rank + 1]];
    parts.push_back({sums.data() + begin, end - begin, DTypeOf<Sent>::value});
  }
  return parts;
}

void GradientBucket::finish(const KernelArguments& arguments) const {
  request_.wait();
  const std::int64_t first = begins_[first_];
  if (compressed() && !rank_begins_.empty()) return store(own_sums_.data(), arguments);
  std::visit([&](const auto& sums) { store(sums.data() + first, arguments); }, sums_);
}

/// Converts sums of this rank's items to the results.
template <class Sent>
void GradientBucket::store(const Sent* sums, const KernelArguments& arguments) const {
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const Sent* const from = sums + begins_[first_ + i] - begins_[first_];
    visit_floating(results_[i].dtype, [&](auto zero) {
      using T = decltype(zero);
      T* const out = arguments.out<T>(i);
      for_blocks(element_count(results_[i].shape), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t j = begin; j < end; ++j) {
          out[j] = static_cast<T>(static_cast<Wide<T>>(static_cast<Computed<Sent>>(from[j])));
        }
      });
    });
  }
}

Transfer GradientBucket::last_transfer() const {
  const std::size_t bytes = std::visit([](const auto& sums) { return sums.size() * sizeof(sums[0]); }, sums_);
  return {.name = rank_begins_.empty() ? "all_reduce" : "reduce_scatter",
          .start = start_,
          .end = communicator_->size() > 1 ? request_.end() : start_,
          .bytes = bytes};
}

}  // namespace mezzo::detail
