#include <mezzo/models/pretrained/weight_shards.hpp>

#include <mezzo/core/pattern.hpp>

namespace mezzo::detail {

void write_folder_weights(const FolderReplacement& folder, const NamedTensors& tensors, const Metadata& metadata,
                          const ShardSize& most) {
  save_safetensors(folder.file("model.safetensors"), tensors, metadata, {.max_shard_size = most});
}

bool is_weight_file(const std::string& name) {
  return Pattern(R"(model(-\d+-of-\d+)?\.safetensors|model\.safetensors\.index\.json)").matches(name);
}

}  // namespace mezzo::detail
