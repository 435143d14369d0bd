#pragma once
#include <string>
#include <vector>

#include <mezzo/io/pickle_items.hpp>

namespace mezzo::detail {

/// Checks a name of a pickle, such as "torch._utils._rebuild_tensor_v2". Throws a FileError that starts with `where`
/// and names it unless it is one that TorchFile describes.
void check_torch_name(const std::string& name, const std::string& where);

/// Result of a known name with arguments: an empty dict, or a tensor that was checked.
PickleItem rebuild_torch(const std::string& name, const std::vector<PickleItem>& arguments, PickleItems& items,
                         const std::string& where);

/// Storage of a persistent id: ("storage", torch.FloatStorage, "0", "cpu", 96).
PickleItem torch_storage(const PickleItem& id, PickleItems& items, const std::string& where);

}  // namespace mezzo::detail
