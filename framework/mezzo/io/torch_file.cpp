#include <mezzo/io/torch_file.hpp>

#include <cstring>
#include <mutex>
#include <unordered_set>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_bools.hpp>
#include <mezzo/io/checked_bytes.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/torch_pickle.hpp>
#include <mezzo/io/zip_file.hpp>

namespace mezzo {

namespace detail {

/// An archive of torch.save() with the views of its tensors.
struct TorchArchive {
  TorchArchive(const std::string& path, const std::string& where) : zip(path, where) {}

  ZipFile zip;
  std::string folder;                                   ///< "archive/", in front of the names of all entries
  TorchPickle pickle;                                   ///< with the storages' keys
  std::vector<const ZipEntry*> entries;                 ///< of the storages
  mutable std::mutex mutex;                             ///< protects `checked`
  mutable std::unordered_set<const ZipEntry*> checked;  ///< storages whose checksum was compared
};

namespace {

constexpr std::string_view pickle_name = "data.pkl";
constexpr std::uint64_t max_pickle_bytes = 1ULL << 25U;

std::string torch_label(const std::string& path, const std::string& tensor = {}) {
  const std::string label = fmt::format("[torch \"{}\"]", path);
  return tensor.empty() ? label : fmt::format("{} tensor \"{}\":", label, tensor);
}

std::string entry_text(const TorchArchive& archive, const ZipEntry& entry, const std::string& where) {
  const ZipContent content = archive.zip.read(entry, fmt::format("{} entry \"{}\":", where, entry.name));
  return {reinterpret_cast<const char*>(content.data), static_cast<std::size_t>(content.size)};
}

/// Finds the pickle, and with it the archive's folder.
const ZipEntry& find_pickle(TorchArchive& archive, const std::string& where) {
  for (const ZipEntry& entry : archive.zip.entries()) {
    const std::size_t slash = entry.name.find('/');
    const std::string folder = slash == std::string::npos ? "" : entry.name.substr(0, slash + 1);
    if (entry.name != folder + std::string(pickle_name)) continue;
    archive.folder = folder;
    if (entry.size > max_pickle_bytes) {
      fail<FileError>(where, "the pickle must have at most {} bytes; got {}", max_pickle_bytes, entry.size);
    }
    return entry;
  }
  fail<FileError>(where, "must have an entry {}, as torch.save() writes it; the archive has none", pickle_name);
}

void check_byte_order(const TorchArchive& archive, const std::string& where) {
  const ZipEntry* const entry = archive.zip.find(archive.folder + "byteorder");
  if (entry == nullptr) return;
  const std::string order = entry->size > 10 ? "another text" : entry_text(archive, *entry, where);
  if (order != "little") fail<FileError>(where, "the byte order must be little; got \"{}\"", order);
}

void find_storages(TorchArchive& archive, const std::string& where) {
  for (const TorchStorage& storage : archive.pickle.storages) {
    const std::string name = archive.folder + "data/" + storage.key;
    const ZipEntry* const entry = archive.zip.find(name);
    if (entry == nullptr) fail<FileError>(where, "must have the entry \"{}\" of a storage; it is missing", name);
    if (entry->size / storage.element < storage.count) {
      fail<FileError>(where, "entry \"{}\": a {} of {} elements must have {} bytes each; got {} bytes", name,
                      storage.type, storage.count, storage.element, entry->size);
    }
    archive.entries.push_back(entry);
  }
}

/// Compares the checksum of a storage the first time.
void check_storage(const TorchArchive& archive, const ZipEntry& entry, const std::string& where) {
  const std::lock_guard<std::mutex> lock(archive.mutex);
  if (archive.checked.count(&entry) > 0) return;
  archive.zip.read(entry, where);
  archive.checked.insert(&entry);
}

/// Copies the elements of a view in row-major order.
void copy_view(const std::uint8_t* from, const TorchTensor& view, std::size_t element, std::uint8_t* to,
               std::size_t axis = 0) {
  if (axis == view.shape.size()) {
    std::memcpy(to, from, element);
    return;
  }
  std::size_t inner = element;
  for (std::size_t i = axis + 1; i < view.shape.size(); ++i) inner *= static_cast<std::size_t>(view.shape[i]);
  const std::size_t stride = static_cast<std::size_t>(view.strides[axis]) * element;
  const bool last = axis + 1 == view.shape.size();
  for (std::int64_t i = 0; i < view.shape[axis]; ++i, from += stride, to += inner) {
    if (last) {
      std::memcpy(to, from, element);
    } else {
      copy_view(from, view, element, to, axis + 1);
    }
  }
}

bool is_contiguous(const TorchTensor& view) {
  std::int64_t expected = 1;
  for (std::size_t axis = view.shape.size(); axis-- > 0;) {
    if (view.shape[axis] != 1 && view.strides[axis] != expected) return false;
    expected *= view.shape[axis];
  }
  return true;
}

}  // namespace
}  // namespace detail

TorchFile::TorchFile(const std::string& path) : path_(path) {
  const std::string where = detail::torch_label(path);
  detail::check_kind(path, {detail::FileKind::torch, detail::FileKind::zip}, where,
                     "a file of torch.save() (.pt, .pth, .bin)");
  const auto archive = std::make_shared<detail::TorchArchive>(path, where);
  const detail::ZipEntry& pickle = detail::find_pickle(*archive, where);
  detail::check_byte_order(*archive, where);
  const std::string bytes = detail::entry_text(*archive, pickle, where);
  archive->pickle = detail::read_torch_pickle(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), where);
  detail::find_storages(*archive, where);
  for (const auto& [name, tensor] : archive->pickle.tensors) {
    const detail::TorchStorage& storage = archive->pickle.storages[tensor.storage];
    places_[name] = entries_.size();
    entries_.push_back({.name = name,
                        .dtype = storage.dtype,
                        .shape = tensor.shape,
                        .begin = tensor.offset * storage.element,
                        .bytes = *detail::checked_bytes(tensor.shape, storage.element),
                        .type = storage.type});
  }
  archive_ = archive;
}

std::vector<std::string> TorchFile::names() const {
  std::vector<std::string> out;
  for (const Entry& entry : entries_) out.push_back(entry.name);
  return out;
}

const TorchFile::Entry* TorchFile::find(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &entries_[found->second];
}

Tensor TorchFile::read(const std::string& name) const {
  const auto found = places_.find(name);
  if (found == places_.end()) {
    fail<NameError>(detail::torch_label(path_), "unknown tensor \"{}\"; the file has {} others", name, entries_.size());
  }
  const std::string where = detail::torch_label(path_, name);
  const Entry& entry = entries_[found->second];
  const detail::TorchTensor& view = archive_->pickle.tensors[found->second].second;
  const std::size_t element = archive_->pickle.storages[view.storage].element;
  Shape shape = entry.shape;
  if (!entry.dtype) shape.push_back(static_cast<std::int64_t>(element));
  Tensor out = Tensor::uninitialized(shape, entry.dtype.value_or(DType::uint8));
  if (out.size() == 0) return out;
  const detail::ZipEntry& stored = *archive_->entries[view.storage];
  detail::ZipContent inflated;
  const std::uint8_t* data = archive_->zip.stored(stored, where);
  if (data == nullptr) {
    inflated = archive_->zip.read(stored, where);
    data = inflated.data;
  } else {
    detail::check_storage(*archive_, stored, where);
  }
  data += entry.begin;
  auto* const to = static_cast<std::uint8_t*>(out.mutable_raw());
  if (detail::is_contiguous(view)) {
    std::memcpy(to, data, out.bytes());
  } else {
    detail::copy_view(data, view, element, to);
  }
  if (entry.dtype == DType::boolean) detail::check_bools(to, out.bytes(), where);
  return out;
}

}  // namespace mezzo
