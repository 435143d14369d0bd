#include <mezzo/training/callbacks/batch_size_finder.hpp>

#include <algorithm>
#include <limits>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/memory_info.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/training/loops/texts.hpp>

namespace mezzo {
namespace {

const char* const batch_finder_label = "[BatchSizeFinder]";

/// Bytes that programs may allocate without swapping; the largest number if the system doesn't report them.
std::int64_t available_bytes() {
  const std::map<std::string, std::int64_t> memory = detail::memory_info();
  const auto available = memory.find("MemAvailable");
  return available == memory.end() ? std::numeric_limits<std::int64_t>::max() : available->second;
}

}  // namespace

BatchSizeFinder::BatchSizeFinder(BatchSizeFinderOptions options) : options_(std::move(options)) {
  if (options_.mode != "power" && options_.mode != "binsearch") {
    fail_unknown(batch_finder_label, "mode", options_.mode, {"power", "binsearch"});
  }
  const auto at_least_1 = [](const char* option, std::int64_t value) {
    if (value < 1) fail<ValueError>(batch_finder_label, "{} must be 1 or more; got {}", option, value);
  };
  at_least_1("steps_per_trial", options_.steps_per_trial);
  at_least_1("init_val", options_.init_val);
  at_least_1("max_trials", options_.max_trials);
  at_least_1("memory_limit", options_.memory_limit.value_or(1));
  if (!(options_.margin >= 0 && options_.margin < 1)) {
    fail<ValueError>(batch_finder_label, "margin must lie in [0, 1); got {}", options_.margin);
  }
  if (options_.max_val < options_.init_val) {
    fail<ValueError>(batch_finder_label, "max_val must be at least init_val, {}; got {}", options_.init_val,
                     options_.max_val);
  }
}

void BatchSizeFinder::setup(const std::string&) { resumed_ = false; }

void BatchSizeFinder::on_fit_start() {
  if (!resumed_) scale_batch_size();
}

std::optional<bool> BatchSizeFinder::run_trial(std::int64_t size) {
  if (static_cast<int>(trials_.size()) >= options_.max_trials) return {};
  const bool good = session().try_batch_size(size, options_.steps_per_trial, limit_);
  trials_.emplace_back(size, good);
  return good;
}

std::int64_t BatchSizeFinder::largest_power(std::int64_t most) {
  std::int64_t good = 0, bad = 0, size = std::min(options_.init_val, most);
  while (const auto result = run_trial(size)) {
    (*result ? good : bad) = size;
    if (bad == 1) fail<MemoryError>(batch_finder_label, "the system has not enough memory for batches of one sample");
    const std::int64_t next = *result ? std::min(2 * size, most) : size / 2;
    if (next == good || next == bad || (*result && bad > 0)) break;
    size = next;
  }
  return good;
}

std::int64_t BatchSizeFinder::largest_between(std::int64_t good) {
  std::int64_t bad = 0;
  for (const auto& [size, succeeded] : trials_) {
    if (!succeeded && size > good && (bad == 0 || size < bad)) bad = size;
  }
  while (bad - good > 1) {
    const std::int64_t middle = (good + bad) / 2;
    const auto result = run_trial(middle);
    if (!result) break;
    (*result ? good : bad) = middle;
  }
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(good) * (1 - options_.margin)));
}

void BatchSizeFinder::scale_batch_size() {
  trials_.clear();
  optimal_.reset();
  limit_ = options_.memory_limit.value_or(available_bytes() / 2);
  std::int64_t size = largest_power(std::min(options_.max_val, session().train_samples()));
  if (size == 0) {
    fail<MemoryError>(batch_finder_label, "a trial must succeed; got {} trials that failed, the last with size {}",
                      trials_.size(), trials_.back().first);
  }
  if (options_.mode == "binsearch") size = largest_between(size);
  session().set_batch_size(size);
  optimal_ = size;
  detail::write_line(fmt::format("{} training goes on with batches of {} samples", batch_finder_label, size));
}

CallbackState BatchSizeFinder::state() const {
  CallbackState out;
  if (optimal_) out.numbers["batch_size"] = static_cast<double>(*optimal_);
  return out;
}

void BatchSizeFinder::on_resume(const CallbackState& state) {
  const int size = detail::count_in(state, "batch_size");
  if (size < 1) return;
  resumed_ = true;
  trials_.clear();
  optimal_ = size;
  session().set_batch_size(size);
}

}  // namespace mezzo
