#include <mezzo/training/loops/call_batches.hpp>

#include <algorithm>
#include <numeric>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/data/combined_loader.hpp>
#include <mezzo/training/loops/loops.hpp>

namespace mezzo::detail {

void require_batches(const DataLoader& loader, const std::string& verb) {
  if (loader.empty()) fail<ValueError>("[Trainer]", "{}: the loader must have batches; got an absent loader", verb);
  const CombinedLoader* const combined = loader.combination();
  if (verb != "fit" || combined == nullptr || combined->mode() != "sequential") return;
  fail<ValueError>("[Trainer]",
                   "fit: a CombinedLoader must have mode \"min_size\", \"max_size_cycle\" or \"max_size\"; got "
                   "\"sequential\"");
}

void fail_without_memory(const char* verb) {
  fail<MemoryError>("[Trainer]", "{}: the system has not enough memory", verb);
}

std::int64_t batches_of(const DataLoader& loader, const BatchLimit& limit, const char* option) {
  return loader.sized() ? limit.of(loader.size(), option) : limit.of_unsized(option);
}

std::int64_t limited_steps(const DataLoader& loader, const std::optional<std::int64_t>& steps, const char* option) {
  if (!steps) return loader.sized() ? loader.size() : all_batches;
  if (*steps < 1) fail<ValueError>("[Trainer]", "{} must be at least 1; got {}", option, *steps);
  if (!loader.sized()) return *steps;
  if (*steps > loader.size()) {
    warn(fmt::format("[Trainer] {} is {}, but the data has {} batches: all of them are taken", option, *steps,
                     loader.size()));
  }
  return std::min(*steps, loader.size());
}

std::int64_t steps_of(const DataLoader& loader, const EvaluationSettings& options, const char* limit) {
  if (!options.limit) return limited_steps(loader, options.steps, "steps");
  const std::int64_t steps = batches_of(loader, *options.limit, limit);
  if (steps == 0) fail<ValueError>("[Trainer]", "{} must not be 0 in a call that needs batches; got 0", limit);
  return steps;
}

std::vector<std::int64_t> steps_of(const DataLoaders& loaders, const EvaluationSettings& options, const char* limit,
                                   const std::string& verb) {
  if (loaders.empty()) require_batches({}, verb);
  std::vector<std::int64_t> out;
  for (const DataLoader& loader : loaders) out.push_back(steps_of(loader, options, limit));
  return out;
}

std::int64_t sum_of(const std::vector<std::int64_t>& steps) {
  return std::accumulate(steps.begin(), steps.end(), std::int64_t{0});
}

}  // namespace mezzo::detail
