#pragma once
#include <string>

#include <mezzo/io/folder_replacement.hpp>
#include <mezzo/io/safetensors.hpp>

namespace mezzo::detail {

/// Writes the weights of a folder: model.safetensors or, if they exceed `most`, shards.
void write_folder_weights(const FolderReplacement& folder, const NamedTensors& tensors, const Metadata& metadata,
                          const ShardSize& most);

/// True for the names of weight files that an earlier call may have written.
bool is_weight_file(const std::string& name);

}  // namespace mezzo::detail
