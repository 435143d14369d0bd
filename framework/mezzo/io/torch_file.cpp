#include <mezzo/io/torch_file.hpp>

#include <cstring>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_bools.hpp>
#include <mezzo/io/checked_bytes.hpp>
#include <mezzo/io/checked_once.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/torch_pickle.hpp>
#include <mezzo/io/zip_file.hpp>

namespace mezzo {

namespace detail {

/// An archive of torch.save() with the views of its tensors.
struct TorchArchive {
  TorchArchive(const std::string& path, const std::string& where) : zip(path, where) {}

  ZipFile zip;
  std::string folder;                    ///< "archive/", in front of the names of all entries
  TorchPickle pickle;                    ///< with the storages' keys
  std::vector<const ZipEntry*> entries;  ///< of the storages
  CheckedOnce checked;
};

namespace {

constexpr std::string_view pickle_name = "data.pkl";
constexpr std::uint64_t max_pickle_bytes = 1ULL << 25U;

std::string torch_label(const std::string& path, const std::string& tensor = {}) {
  const std::string label = fmt::format("[torch \"{}\"]", path);
  return tensor.empty() ? label : fmt::format("{} tensor \"{}\":", label, tensor);
}

std::string entry_text(const TorchArchive& archive, const ZipEntry& entry, const std::string& where) {
  const Bytes content = archive.zip.read(entry, fmt::format("{} entry \"{}\":", where, entry.name));
  return {content.begin(), content.end()};
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

/// Bytes from the first to the last element of a view that has elements.
std::uint64_t bytes_of_span(const TorchTensor& view, std::uint64_t element) {
  std::uint64_t last = 0;
  for (std::size_t axis = 0; axis < view.shape.size(); ++axis) {
    last += static_cast<std::uint64_t>(view.shape[axis] - 1) * static_cast<std::uint64_t>(view.strides[axis]);
  }
  return (last + 1) * element;
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

namespace {

detail::RecognizedFile recognized_torch(const std::string& path) {
  detail::check_kind(path, {detail::FileKind::torch, detail::FileKind::zip}, detail::torch_label(path),
                     "a file of torch.save() (.pt, .pth, .bin)");
  return {path};
}

}  // namespace

TorchFile::TorchFile(const std::string& path) : TorchFile(recognized_torch(path)) {}

TorchFile::TorchFile(const detail::RecognizedFile& file) : TensorFile(file.path) {
  const std::string where = detail::torch_label(path());
  const auto archive = std::make_shared<detail::TorchArchive>(path(), where);
  const detail::ZipEntry& pickle = detail::find_pickle(*archive, where);
  detail::check_byte_order(*archive, where);
  const std::string bytes = detail::entry_text(*archive, pickle, where);
  archive->pickle = detail::read_torch_pickle(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), where);
  detail::find_storages(*archive, where);
  for (const auto& [name, tensor] : archive->pickle.tensors) {
    const detail::TorchStorage& storage = archive->pickle.storages[tensor.storage];
    add({.name = name,
         .dtype = storage.dtype,
         .shape = tensor.shape,
         .begin = tensor.offset * storage.element,
         .bytes = *detail::checked_bytes(tensor.shape, storage.element),
         .type = storage.type});
  }
  archive_ = archive;
}

void TorchFile::check(const std::string& name) const {
  const std::string where = detail::torch_label(path(), name);
  const std::size_t index = index_of(name, detail::torch_label(path()));
  const detail::ZipEntry& stored = *archive_->entries[archive_->pickle.tensors[index].second.storage];
  archive_->checked.check(&stored, [&] { archive_->zip.check(stored, where); });
}

/// Reads the elements of a view that has some.
void TorchFile::read_view(std::size_t index, void* to, const std::string& where) const {
  const Entry& entry = entries()[index];
  const detail::TorchTensor& view = archive_->pickle.tensors[index].second;
  const detail::ZipEntry& storage = *archive_->entries[view.storage];
  const std::size_t element = archive_->pickle.storages[view.storage].element;
  const bool contiguous = detail::is_contiguous(view);
  if (storage.stored() && contiguous) {
    archive_->zip.read_stored(storage, entry.begin, to, entry.bytes, where);
    return;
  }
  detail::Bytes content;
  const std::uint8_t* from = nullptr;
  if (storage.stored()) {
    content.resize(detail::bytes_of_span(view, element));
    archive_->zip.read_stored(storage, entry.begin, content.data(), content.size(), where);
    from = content.data();
  } else {
    content = archive_->zip.read(storage, where);
    from = content.data() + entry.begin;
  }
  if (contiguous) {
    std::memcpy(to, from, entry.bytes);
  } else {
    detail::copy_view(from, view, element, static_cast<std::uint8_t*>(to));
  }
}

Tensor TorchFile::read(const std::string& name) const {
  const std::size_t index = index_of(name, detail::torch_label(path()));
  const std::string where = detail::torch_label(path(), name);
  const Entry& entry = entries()[index];
  const std::size_t storage = archive_->pickle.tensors[index].second.storage;
  Shape shape = entry.shape;
  if (!entry.dtype) shape.push_back(static_cast<std::int64_t>(archive_->pickle.storages[storage].element));
  Tensor out = Tensor::uninitialized(shape, entry.dtype.value_or(DType::uint8));
  if (out.size() == 0) return out;
  if (archive_->entries[storage]->stored()) check(name);  // others are checked when they are decompressed
  read_view(index, out.mutable_raw(), where);
  if (entry.dtype == DType::boolean) detail::check_bools(out.raw(), out.bytes(), where);
  return out;
}

}  // namespace mezzo
