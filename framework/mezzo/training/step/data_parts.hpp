#pragma once
#include <mezzo/data/loaders.hpp>
#include <mezzo/training/step/process_group.hpp>

namespace mezzo::detail {

/// Part of a loader that this process takes: the loader itself for a process alone, or if it is absent. In a group, a
/// ValueError for a loader without a size or with a DistributedSampler.
DataLoader part_of(const DataLoader& loader, const ProcessGroup& group);
DataLoaders parts_of(const DataLoaders& loaders, const ProcessGroup& group);

}  // namespace mezzo::detail
