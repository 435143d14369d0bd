#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/data/loaders.hpp>
#include <mezzo/training/loops/limits.hpp>

namespace mezzo::detail {

struct EvaluationSettings;

/// A ValueError unless the loader has batches; for fit also for a CombinedLoader in mode "sequential".
void require_batches(const DataLoader& loader, const std::string& verb);

/// Throws the MemoryError of small allocations of the standard library. Arrays and arenas throw one with their size.
[[noreturn]] void fail_without_memory(const char* verb);

/// Batches of a loader within a limit; all_batches for 1.0 of a loader without a size. `option` is the limit's name.
std::int64_t batches_of(const DataLoader& loader, const BatchLimit& limit, const char* option);

/// The number in a Session and a progress bar: -1 for all_batches and more.
inline std::int64_t known_batches(std::int64_t steps) { return steps >= all_batches ? -1 : steps; }

/// Number of batches to take of a loader. Warns if it has fewer than `steps`. A ValueError for fewer than 1 step;
/// `option` is its name.
std::int64_t limited_steps(const DataLoader& loader, const std::optional<std::int64_t>& steps, const char* option);

/// Number of batches that a call takes. A ValueError for a limit without a batch; `limit` is its name.
std::int64_t steps_of(const DataLoader& loader, const EvaluationSettings& options, const char* limit);

/// The same for each loader. A ValueError if there is none; `verb` is that of the call.
std::vector<std::int64_t> steps_of(const DataLoaders& loaders, const EvaluationSettings& options, const char* limit,
                                   const std::string& verb);

/// Sum of the batches of loaders.
std::int64_t sum_of(const std::vector<std::int64_t>& steps);

}  // namespace mezzo::detail
