#include <mezzo/io/npz.hpp>

#include <algorithm>
#include <optional>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/is_utf8.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/io/array_entries.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/npy_format.hpp>
#include <mezzo/io/npz_lists.hpp>
#include <mezzo/io/zip_directory.hpp>
#include <mezzo/io/zip_file.hpp>
#include <mezzo/io/zip_writer.hpp>

namespace mezzo {
namespace {

constexpr std::string_view npy_suffix = ".npy";

std::string label_of_npz(const std::string& path) { return fmt::format("[load_npz \"{}\"]", path); }

void check_kind_of_npz(const std::string& path, const std::string& where) {
  using detail::FileKind;
  detail::check_kind(path, {FileKind::npz, FileKind::zip}, where, "an archive of NumPy's arrays (.npz)");
}

std::string label_of_entry(const std::string& where, const std::string& name) {
  return fmt::format("{} entry \"{}\":", where, name);
}

/// Name of the array in an entry; nullopt for another file.
std::optional<std::string> array_name(const std::string& entry) {
  if (entry.size() < npy_suffix.size() || !entry.ends_with(npy_suffix)) return std::nullopt;
  return entry.substr(0, entry.size() - npy_suffix.size());
}

std::string_view text_of_entry(const detail::Bytes& content) {
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

void check_npz_name(const std::string& name, const std::string& where) {
  constexpr std::size_t longest = 0xffff - npy_suffix.size();
  if (name.empty() || name.size() > longest || name.find('\0') != std::string::npos || !detail::is_utf8(name)) {
    fail<NameError>(where, "names must be UTF-8 of 1 to {} bytes, without zero bytes; got \"{}\"", longest, name);
  }
}

}  // namespace

void detail::for_each_npz_entry(
    const std::string& path,
    const std::function<void(const std::string&, std::string_view, const std::string&)>& function) {
  const std::string where = label_of_npz(path);
  check_kind_of_npz(path, where);
  const ZipFile zip(path, where);
  for (const ZipEntry& entry : zip.entries()) {
    const auto name = array_name(entry.name);
    if (!name) continue;
    const std::string at = label_of_entry(where, entry.name);
    const Bytes content = zip.read(entry, at);
    function(*name, text_of_entry(content), at);
  }
}

std::vector<TensorEntry> detail::npz_entries(const std::string& path) {
  const std::string where = fmt::format("[npz_entries \"{}\"]", path);
  check_kind_of_npz(path, where);
  const ZipFile zip(path, where);
  std::vector<TensorEntry> entries;
  for (const ZipEntry& entry : zip.entries()) {
    const auto name = array_name(entry.name);
    if (!name) continue;
    const std::string at = label_of_entry(where, entry.name);
    Bytes start;
    std::size_t begin = 0;
    const ReadBytes read = [&](void* to, std::size_t count) {
      constexpr std::size_t usual = 512;
      if (start.size() < begin + count) start = zip.read_start(entry, std::max(begin + count, usual), at);
      std::copy_n(start.data() + begin, count, static_cast<std::uint8_t*>(to));
      begin += count;
    };
    entries.push_back(entry_of_npy(*name, read_npy_header(read, entry.size, at)));
  }
  return entries;
}

std::map<std::string, Tensor> load_npz(const std::string& path) {
  std::map<std::string, Tensor> tensors;
  std::string skipped;
  detail::for_each_npz_entry(path, [&](const std::string& name, std::string_view content, const std::string& at) {
    const detail::ReadBytes read = detail::reader_of(content);
    const detail::NpyHeader header = detail::read_npy_header(read, content.size(), at);
    if (!header.type.is_number()) {
      skipped += fmt::format("{}\"{}\" ({})", skipped.empty() ? "" : ", ", name, describe_npy_type(header.type));
      return;
    }
    if (!tensors.emplace(name, read_npy_numbers(read, npy_numbers(header, "", at), at)).second) {
      fail<FileError>(at, "names must differ; got two arrays \"{}\"", name);
    }
  });
  if (!skipped.empty()) {
    detail::warn(fmt::format("{} skipped arrays that are not of numbers: {}", label_of_npz(path), skipped));
  }
  return tensors;
}

Tensor load_npz(const std::string& path, const std::string& name, const LoadNpyOptions& options) {
  const std::string where = label_of_npz(path);
  check_kind_of_npz(path, where);
  const detail::ZipFile zip(path, where);
  const detail::ZipEntry* const entry = zip.find(name + std::string(npy_suffix));
  if (entry == nullptr) {
    std::vector<std::string> names;
    for (const detail::ZipEntry& other : zip.entries()) {
      if (const auto array = array_name(other.name)) names.push_back(*array);
    }
    fail_unknown(where, "array", name, names);
  }
  const std::string at = label_of_entry(where, entry->name);
  const detail::Bytes content = zip.read(*entry, at);
  const std::string_view bytes = text_of_entry(content);
  return detail::read_npy(detail::reader_of(bytes), bytes.size(), options.field, at);
}

void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors) {
  const std::string where = fmt::format("[save_npz \"{}\"]", path);
  detail::check_suffix(path, detail::FileKind::npz, where, ".npz");
  const auto array_where = [&](const std::string& name) { return fmt::format("{} array \"{}\":", where, name); };
  for (const auto& [name, tensor] : tensors) {
    check_npz_name(name, where);
    detail::npy_descr(tensor.dtype(), array_where(name));  // before a file is made
  }
  detail::ZipWriter zip(path, where);
  for (const auto& entry : tensors) {
    zip.add(entry.first + std::string(npy_suffix),
            [&](const detail::WriteBytes& write) { detail::write_npy(entry.second, write, array_where(entry.first)); });
  }
  zip.commit();
}

}  // namespace mezzo
