#include <mezzo/training/trainer/group_call.hpp>

#include <mezzo/training/callbacks/backup_and_restore.hpp>
#include <mezzo/training/callbacks/batch_size_finder.hpp>
#include <mezzo/training/callbacks/learning_rate_finder.hpp>

namespace mezzo::detail {

void require_supported(const TrainerOptions& options, const ProcessGroup& group) {
  if (options.precision.automatic()) group.require_alone_with("precision \"auto\"");
  if (options.eager) group.require_alone_with("eager");
  for (const CallbackHandle& handle : options.callbacks) {
    const Callback* const callback = &handle.get();
    if (dynamic_cast<const BackupAndRestore*>(callback) != nullptr) group.require_alone_with("a BackupAndRestore");
    if (dynamic_cast<const BatchSizeFinder*>(callback) != nullptr) group.require_alone_with("a BatchSizeFinder");
    if (dynamic_cast<const LearningRateFinder*>(callback) != nullptr) group.require_alone_with("a LearningRateFinder");
  }
}

}  // namespace mezzo::detail
