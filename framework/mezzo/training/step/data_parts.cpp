#include <mezzo/training/step/data_parts.hpp>

#include <vector>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

DataLoader part_of(const DataLoader& loader, const ProcessGroup& group) {
  if (!group.shared() || loader.empty()) return loader;
  if (!loader.sized()) {
    fail<ValueError>("[Trainer]", "data of several ranks must have a known size; got an iterable data set");
  }
  const Any<Sampler>& sampler = loader.options().sampler;
  if (sampler && dynamic_cast<const DistributedSampler*>(&*sampler) != nullptr) {
    fail<ValueError>("[Trainer]",
                     "data of several ranks must be whole, since the Trainer divides them; got a loader with a {}",
                     sampler->describe());
  }
  return loader.part(group.communicator()->rank(), group.communicator()->size());
}

DataLoaders parts_of(const DataLoaders& loaders, const ProcessGroup& group) {
  if (!group.shared()) return loaders;
  std::vector<DataLoader> out;
  for (const DataLoader& loader : loaders) out.push_back(part_of(loader, group));
  return DataLoaders(out);
}

}  // namespace mezzo::detail
