#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/file_replacement.hpp>
#include <mezzo/io/safetensors_header.hpp>

namespace mezzo {
namespace {

using TensorItem = std::pair<std::string, Tensor>;

/// Checks the tensors and returns them in the order of the file.
std::vector<const TensorItem*> in_order(const NamedTensors& tensors, const std::string& path) {
  std::vector<const TensorItem*> out;
  std::set<std::string> names;
  for (const TensorItem& item : tensors) {
    const std::string where = detail::safetensors_label(path, item.first);
    if (item.first == detail::metadata_name) fail<NameError>(where, "must have another name; this one is reserved");
    if (!names.insert(item.first).second) fail<NameError>(where, "the name must be unique; got it twice");
    if (item.second.shape().size() > detail::max_rank) {
      fail<FileError>(where, "the rank must be at most {}; got {}", detail::max_rank, item.second.shape().size());
    }
    out.push_back(&item);
  }
  std::sort(out.begin(), out.end(), [](const TensorItem* a, const TensorItem* b) {
    const std::size_t sizes[] = {dtype_size(a->second.dtype()), dtype_size(b->second.dtype())};
    return sizes[0] != sizes[1] ? sizes[0] > sizes[1] : a->first < b->first;
  });
  return out;
}

std::string checksums(const detail::SafetensorsHeader& header, const std::vector<const TensorItem*>& items) {
  std::string out = fmt::format("{:08x}", detail::safetensors_checksum(header));
  for (std::size_t i = 0; i < items.size(); ++i) {
    out += fmt::format("{:08x}", detail::safetensors_checksum(header.entries[i], items[i]->second.raw()));
  }
  return out;
}

detail::SafetensorsHeader header_of(const std::vector<const TensorItem*>& items, const Metadata& metadata,
                                    const std::string& path) {
  detail::SafetensorsHeader header{.entries = {}, .metadata = metadata};
  std::uint64_t begin = 0;
  for (const TensorItem* item : items) {
    const Tensor& tensor = item->second;
    header.entries.push_back({.name = item->first,
                              .dtype = tensor.dtype(),
                              .shape = tensor.shape(),
                              .begin = begin,
                              .bytes = tensor.bytes(),
                              .type = detail::safetensors_name(tensor.dtype())});
    begin += tensor.bytes();
  }
  if (!header.metadata.emplace(detail::checksum_name, checksums(header, items)).second) {
    fail<NameError>(detail::safetensors_label(path), "metadata must not have the reserved entry crc32; got one");
  }
  return header;
}

std::string header_text_of(const detail::SafetensorsHeader& header, const std::string& path) {
  try {
    nlohmann::ordered_json json;
    json[detail::metadata_name] = header.metadata;
    for (const SafetensorsFile::Entry& entry : header.entries) {
      json[entry.name] = {
          {"dtype", entry.type}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.begin + entry.bytes}}};
    }
    std::string text = json.dump();
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
  } catch (const nlohmann::json::type_error& error) {  // from dump(), which throws no other
    fail<NameError>(detail::safetensors_label(path), "names and metadata must be UTF-8; got other bytes ({})",
                    error.what());
  }
}

}  // namespace

void save_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  detail::check_suffix(path, detail::FileKind::safetensors, detail::safetensors_label(path),
                       ".safetensors, or have a suffix of its own");
  const std::vector<const TensorItem*> items = in_order(tensors, path);
  const std::string header = header_text_of(header_of(items, metadata, path), path);
  if (header.size() > detail::max_header_bytes) {
    fail<FileError>(detail::safetensors_label(path), "the header must have at most {} bytes; got {}",
                    detail::max_header_bytes, header.size());
  }
  const std::uint64_t length = header.size();
  detail::FileReplacement file(path, detail::safetensors_label(path));
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (const TensorItem* item : items) file.write(item->second.raw(), item->second.bytes());
  file.commit();
}

}  // namespace mezzo
