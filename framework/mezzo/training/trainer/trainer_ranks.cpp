#include <mezzo/training/trainer/trainer_ranks.hpp>

#include <algorithm>
#include <cstdlib>

#include <mezzo/core/fail.hpp>
#include <mezzo/distributed/rank_threads.hpp>
#include <mezzo/training/callbacks/backup_and_restore.hpp>
#include <mezzo/training/callbacks/batch_size_finder.hpp>
#include <mezzo/training/callbacks/learning_rate_finder.hpp>

namespace mezzo::detail {

int thread_limit(const std::shared_ptr<Communicator>& ranks) {
  const int threads = thread_count();
  if (!ranks) return threads;
  const int share = threads_of_rank(*ranks);  // also where it isn't used: all ranks must call it
  return std::getenv("OMP_NUM_THREADS") != nullptr ? threads : std::min(threads, share);
}

void require_supported_by_ranks(const TrainerOptions& options, const std::shared_ptr<Communicator>& ranks) {
  if (!ranks) return;
  const auto refuse = [&](const char* what) {
    fail<ValueError>("[Trainer]", "a training of several ranks can't have {}; got it with {} ranks", what,
                     ranks->size());
  };
  if (options.precision.automatic()) refuse("precision \"auto\"");
  if (options.eager) refuse("eager");
  for (const CallbackHandle& handle : options.callbacks) {
    const Callback* const callback = &handle.get();
    if (dynamic_cast<const BackupAndRestore*>(callback) != nullptr) refuse("a BackupAndRestore");
    if (dynamic_cast<const BatchSizeFinder*>(callback) != nullptr) refuse("a BatchSizeFinder");
    if (dynamic_cast<const LearningRateFinder*>(callback) != nullptr) refuse("a LearningRateFinder");
  }
}

DataLoader part_of(const DataLoader& loader, const std::shared_ptr<Communicator>& ranks) {
  if (!ranks || loader.empty()) return loader;
  if (!loader.sized()) {
    fail<ValueError>("[Trainer]", "data of several ranks must have a known size; got an iterable data set");
  }
  const Any<Sampler>& sampler = loader.options().sampler;
  if (sampler && dynamic_cast<const DistributedSampler*>(&*sampler) != nullptr) {
    fail<ValueError>("[Trainer]",
                     "data of several ranks must be whole, since the Trainer divides them; got a loader with a {}",
                     sampler->describe());
  }
  return loader.part(ranks->rank(), ranks->size());
}

DataLoaders parts_of(const DataLoaders& loaders, const std::shared_ptr<Communicator>& ranks) {
  if (!ranks) return loaders;
  std::vector<DataLoader> out;
  for (const DataLoader& loader : loaders) out.push_back(part_of(loader, ranks));
  return DataLoaders(out);
}

std::string path_of_first(const std::shared_ptr<Communicator>& ranks, const std::function<std::string()>& find) {
  if (!ranks) return find();
  return ranks->broadcast_text(ranks->rank() == 0 ? find() : std::string());
}

}  // namespace mezzo::detail
