#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

struct BatchSizeFinderOptions {
  /// "power": doubles the size until a trial fails. "binsearch": then halves the interval between the last two sizes
  /// until they are neighbours.
  std::string mode = "power";
  int steps_per_trial = 3;      ///< training steps of a trial, 1 or more
  std::int64_t init_val = 2;    ///< first size, 1 or more
  int max_trials = 25;          ///< 1 or more
  double margin = 0.05;         ///< share by which "binsearch" reduces the size that it found, in [0, 1)
  std::int64_t max_val = 8192;  ///< largest size, at least init_val
  /// Bytes that the plan of a step may need for its intermediate results. Not given: half of the memory that the system
  /// has available at the start of the search, since a process that takes too much is killed without an error.
  std::optional<std::int64_t> memory_limit{};
};

/// Finds the largest batch size whose steps don't run out of memory, and trains with it, as
/// lightning.pytorch.callbacks.BatchSizeFinder. A trial fails by a MemoryError or by memory_limit. Sizes end at that of
/// the data set. Weights, optimizers and counters are as before afterwards, bit for bit. A training that is resumed
/// takes the size of its checkpoint and doesn't search.
class MEZZO_API BatchSizeFinder : public Callback {
 public:
  /// A size and true if its trial succeeded.
  using Trial = std::pair<std::int64_t, bool>;

  /// A ValueError for an option out of its range, a NameError for an unknown mode.
  explicit BatchSizeFinder(BatchSizeFinderOptions options = {});

  void setup(const std::string& stage) override;
  void on_fit_start() override;
  std::string state_name() const override { return "BatchSizeFinder"; }
  CallbackState state() const override;
  void on_resume(const CallbackState& state) override;

  /// Runs the search, in on_fit_start only. A MemoryError if batches of one sample fail.
  void scale_batch_size();

  std::optional<std::int64_t> optimal_batch_size() const { return optimal_; }  ///< result of the last search
  const std::vector<Trial>& trials() const { return trials_; }                 ///< result of the last search

 private:
  /// Runs a trial if the limit allows one more; none if it does not.
  std::optional<bool> run_trial(std::int64_t size);
  std::int64_t largest_power(std::int64_t most);
  std::int64_t largest_between(std::int64_t good);

  BatchSizeFinderOptions options_;
  std::int64_t limit_ = 0;
  std::optional<std::int64_t> optimal_;
  std::vector<Trial> trials_;
  bool resumed_ = false;
};

}  // namespace mezzo
