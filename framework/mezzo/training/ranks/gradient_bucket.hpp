#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include <mezzo/compiler/custom_op.hpp>
#include <mezzo/distributed/communicator.hpp>
#include <mezzo/distributed/transfer.hpp>
#include <mezzo/training/ranks/gradient_feedback.hpp>

namespace mezzo::detail {

/// A value of a bucket: inputs of the start, by index, and the result.
struct BucketItem {
  std::size_t value = 0;                ///< floating
  std::optional<std::size_t> factor{};  ///< of the value: float64 ()
  std::optional<std::size_t> sum{};     ///< that is added, of the result's dtype
  bool weighted = true;                 ///< the value is multiplied by the rank's share of the samples
  GradientFeedback::Errors errors{};    ///< of the item; null: the item is sent as it is
  Spec result;                          ///< sum over the ranks
};

/// Values that ranks sum together. Kernels call start(), then finish(); the sum runs in between. Sums are float32, or
/// float64 if a result is. Items with `errors`, which are all or none, are sent as bfloat16.
class GradientBucket final : public AttributeFunction {
 public:
  /// `items` of all ranks: each rank receives all results. `share`: index of the input with the rank's share of the
  /// samples.
  GradientBucket(std::shared_ptr<Communicator> communicator, std::vector<BucketItem> items, std::size_t share);

  /// Items by rank: each rank receives the results of its items.
  GradientBucket(std::shared_ptr<Communicator> communicator, const std::vector<std::vector<BucketItem>>& items,
                 std::size_t share);

  GradientBucket(const GradientBucket&) = delete;
  GradientBucket& operator=(const GradientBucket&) = delete;
  ~GradientBucket() override;

  /// Specs of the results of this rank.
  const std::vector<Spec>& results() const { return results_; }

  void start(const KernelRequest& request, const KernelArguments& arguments) const;
  void finish(const KernelArguments& arguments) const;

  /// Clears the rounding errors of sums, after a skipped step.
  void forget_errors() const { std::fill(own_sums_.begin(), own_sums_.end(), 0.0F); }

  /// The last run, which must be done.
  Transfer last_transfer() const;

 private:
  void lay_out();
  void settle() const;
  template <class Sent>
  void load(const KernelRequest& request, const KernelArguments& arguments, std::size_t item, Sent* to) const;
  template <class Sent>
  void send(std::vector<Sent>& sums) const;
  template <class Sent>
  std::vector<RankArray> parts_of(std::vector<Sent>& sums) const;
  template <class Sent>
  void store(const Sent* sums, const KernelArguments& arguments) const;
  bool compressed() const { return std::holds_alternative<std::vector<bfloat16>>(sums_); }

  std::shared_ptr<Communicator> communicator_;
  std::vector<BucketItem> items_;
  std::vector<std::int64_t> begins_;        // of each item in the sums, and the size of the sums
  std::vector<std::size_t> rank_begins_{};  // first item of each rank, and their number; empty: all ranks have all
                                            // items
  std::size_t share_;
  std::size_t first_ = 0;  // item of this rank
  std::vector<Spec> results_;
  mutable std::variant<std::vector<float>, std::vector<double>, std::vector<bfloat16>> sums_;
  /// Used if ranks send bfloat16: sums of this rank's items if it receives no others, else rounding errors of the sums
  /// that it sends.
  mutable std::vector<float> own_sums_;
  mutable RankRequest request_;
  mutable std::chrono::steady_clock::time_point start_;
};

}  // namespace mezzo::detail
