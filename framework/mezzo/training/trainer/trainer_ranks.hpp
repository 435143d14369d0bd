#pragma once
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include <mezzo/core/parallel.hpp>
#include <mezzo/data/loaders.hpp>
#include <mezzo/distributed/communicator.hpp>
#include <mezzo/training/module/interrupted.hpp>
#include <mezzo/training/trainer/rank_options.hpp>
#include <mezzo/training/trainer/trainer_options.hpp>

namespace mezzo::detail {

/// Limits the threads of each rank of a Trainer's call to those that OMP_NUM_THREADS or set_thread_count() allow.
/// Without OMP_NUM_THREADS, also to the rank's share of the processors.
int thread_limit(const std::shared_ptr<Communicator>& ranks);

/// Runs a Trainer's call(ranks), whose ranks, null for one process, must have the same options. If it throws, the other
/// ranks end, too.
template <class Call>
auto with_ranks(const TrainerOptions& options, const Call& call) {
  const std::shared_ptr<Communicator> ranks = options.strategy.communicator();
  try {
    if (ranks) compare_options(*ranks, options);
    const ThreadLimit threads(thread_limit(ranks));
    return call(ranks);
  } catch (const Interrupted&) {  // of all ranks
    throw;
  } catch (const std::exception& error) {
    if (ranks) ranks->fail(error.what());
    throw;
  }
}

/// Throws a ValueError for an option or callback that doesn't work with several ranks.
void require_supported_by_ranks(const TrainerOptions& options, const std::shared_ptr<Communicator>& ranks);

/// The rank's part of a loader; the loader itself for one rank or if it is absent.
DataLoader part_of(const DataLoader& loader, const std::shared_ptr<Communicator>& ranks);
DataLoaders parts_of(const DataLoaders& loaders, const std::shared_ptr<Communicator>& ranks);

/// A checkpoint's path, as found by rank 0.
std::string path_of_first(const std::shared_ptr<Communicator>& ranks, const std::function<std::string()>& find);

}  // namespace mezzo::detail
