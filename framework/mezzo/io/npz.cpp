#include <mezzo/io/npz.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/io/npz_lists.hpp>

#if MEZZO_WITH_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>
#include <clocale>

#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>

#include <mezzo/io/file_replacement.hpp>
#include <mezzo/io/npy_format.hpp>
#include <mezzo/io/open_file.hpp>
#endif

namespace mezzo {

#if MEZZO_WITH_LIBARCHIVE
namespace {

constexpr std::string_view suffix = ".npy";

/// Makes UTF-8 the encoding of names for this thread: libarchive converts names from and to the thread's locale.
class Utf8Locale {
 public:
  Utf8Locale() : locale_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (locale_ != nullptr) old_ = ::uselocale(locale_);
  }
  ~Utf8Locale() {
    if (locale_ == nullptr) return;
    ::uselocale(old_);
    ::freelocale(locale_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t locale_, old_ = nullptr;
};

using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;
using Writer = std::unique_ptr<archive, decltype(&archive_write_free)>;
using Entry = std::unique_ptr<archive_entry, decltype(&archive_entry_free)>;

/// Throws libarchive's own text unless `result` is ARCHIVE_OK: a warning is an error too.
void check(archive* zip, int result, const std::string& where) {
  if (result == ARCHIVE_OK) return;
  const char* const text = archive_error_string(zip);
  fail<FileError>(where, "must be a whole zip archive; libarchive reports: {}", text == nullptr ? "an error" : text);
}

/// True for a zip archive without entries, which libarchive does not accept as an archive: 22 bytes, all 0 except the
/// signature. Throws a FileError if the file is missing or not a regular file.
bool is_empty_archive(const std::string& path, const std::string& where) {
  const detail::OpenFile file(path, where);
  std::array<char, 22> bytes{}, empty{'P', 'K', '\5', '\6'};
  if (file.size() != bytes.size()) return false;
  file.read(0, bytes.data(), bytes.size(), where);
  return bytes == empty;
}

std::string read_entry(archive* zip, const std::string& where) {
  std::string content;
  while (true) {
    const std::size_t size = content.size();
    const std::size_t piece = std::max(size, std::size_t{1} << 12);  // a small array must not cost a large buffer
    content.resize(size + piece);
    const la_ssize_t got = archive_read_data(zip, content.data() + size, piece);
    if (got < 0) check(zip, static_cast<int>(got), where);
    content.resize(size + static_cast<std::size_t>(got));
    if (got == 0) return content;
  }
}

Tensor read_array(const std::string& content, const std::string& where) {
  std::size_t offset = 0;
  const auto read = [&](void* to, std::size_t count) {
    std::memcpy(to, content.data() + offset, count);
    offset += count;
  };
  return detail::read_npy(read, content.size(), where);
}

/// The file that libarchive writes to. Keeps an error, which can't pass through libarchive's C code.
struct Output {
  detail::FileReplacement file;
  std::exception_ptr error;

  static la_ssize_t write(archive*, void* self, const void* from, std::size_t count) {
    auto* output = static_cast<Output*>(self);
    if (output->error) return -1;
    try {
      output->file.write(from, count);
    } catch (...) {
      output->error = std::current_exception();
      return -1;
    }
    return static_cast<la_ssize_t>(count);
  }

  /// Throws the kept error, or libarchive's.
  void check(archive* zip, int result, const std::string& where) const {
    if (error) std::rethrow_exception(error);
    if (result == ARCHIVE_OK) return;
    const char* const text = archive_error_string(zip);
    fail<FileError>(where, "can't be written; libarchive reports: {}", text == nullptr ? "an error" : text);
  }
};

void write_array(archive* zip, const std::string& name, const Tensor& tensor, const Output& output,
                 const std::string& where) {
  std::size_t size = 0;
  detail::write_npy(
      tensor, [&](const void*, std::size_t count) { size += count; }, where);
  const Entry entry(archive_entry_new(), archive_entry_free);
  archive_entry_set_pathname_utf8(entry.get(), name.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  output.check(zip, archive_write_header(zip, entry.get()), where);
  const auto write = [&](const void* from, std::size_t count) {
    const auto* bytes = static_cast<const char*>(from);
    while (count > 0) {
      const la_ssize_t done = archive_write_data(zip, bytes, count);
      output.check(zip, done > 0 ? ARCHIVE_OK : ARCHIVE_FATAL, where);
      bytes += done;
      count -= static_cast<std::size_t>(done);
    }
  };
  detail::write_npy(tensor, write, where);
  output.check(zip, archive_write_finish_entry(zip), where);
}

void check_name(const std::string& name, const std::string& where) {
  const bool has_zero = name.find('\0') != std::string::npos;
  if (name.empty() || has_zero || std::mbstowcs(nullptr, name.c_str(), 0) == static_cast<std::size_t>(-1)) {
    fail<NameError>(where, "names must be UTF-8 of at least one character, without zero bytes; got \"{}\"",
                    has_zero ? name.c_str() : name);
  }
}

}  // namespace

void detail::for_each_npz_entry(
    const std::string& path,
    const std::function<void(const std::string&, const std::string&, const std::string&)>& function) {
  const std::string where = fmt::format("[load_npz \"{}\"]", path);
  check_path(path, where);
  if (is_empty_archive(path, where)) return;
  const Utf8Locale locale;
  const Reader zip(archive_read_new(), archive_read_free);
  check(zip.get(), archive_read_support_format_zip_seekable(zip.get()), where);
  check(zip.get(), archive_read_open_filename(zip.get(), path.c_str(), std::size_t{1} << 16), where);
  while (true) {
    archive_entry* entry = nullptr;
    const int result = archive_read_next_header(zip.get(), &entry);
    if (result == ARCHIVE_EOF) return;
    check(zip.get(), result, where);
    const char* const pathname = archive_entry_pathname_utf8(entry);
    if (pathname == nullptr) fail<FileError>(where, "names of entries must be UTF-8; got other bytes");
    std::string name = pathname;
    const std::string at = fmt::format("{} entry \"{}\":", where, name);
    const std::string content = read_entry(zip.get(), at);
    if (name.size() >= suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0) {
      name.resize(name.size() - suffix.size());
    }
    function(name, content, at);
  }
}

std::map<std::string, Tensor> load_npz(const std::string& path) {
  std::map<std::string, Tensor> tensors;
  detail::for_each_npz_entry(path, [&](const std::string& name, const std::string& content, const std::string& at) {
    if (!tensors.emplace(name, read_array(content, at)).second) {
      fail<FileError>(at, "names must differ; got two arrays \"{}\"", name);
    }
  });
  return tensors;
}

void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors) {
  const std::string where = fmt::format("[save_npz \"{}\"]", path);
  const auto array_where = [&](const std::string& name) { return fmt::format("{} array \"{}\":", where, name); };
  const Utf8Locale locale;
  for (const auto& [name, tensor] : tensors) {
    check_name(name, where);
    detail::npy_descr(tensor.dtype(), array_where(name));  // before a file is made
  }
  Output output{.file = detail::FileReplacement(path, where), .error = nullptr};
  const Writer zip(archive_write_new(), archive_write_free);
  output.check(zip.get(), archive_write_set_format_zip(zip.get()), where);
  output.check(zip.get(), archive_write_zip_set_compression_store(zip.get()), where);
  output.check(zip.get(), archive_write_set_bytes_in_last_block(zip.get(), 1), where);
  output.check(zip.get(), archive_write_open(zip.get(), &output, nullptr, Output::write, nullptr), where);
  for (const auto& [name, tensor] : tensors) {
    write_array(zip.get(), name + std::string(suffix), tensor, output, array_where(name));
  }
  output.check(zip.get(), archive_write_close(zip.get()), where);
  output.file.commit();
}

#else

void detail::for_each_npz_entry(
    const std::string& path, const std::function<void(const std::string&, const std::string&, const std::string&)>&) {
  fail<Error>(fmt::format("[load_npz \"{}\"]", path), "needs libarchive; this mezzo was built without it");
}

std::map<std::string, Tensor> load_npz(const std::string& path) {
  fail<Error>(fmt::format("[load_npz \"{}\"]", path), "needs libarchive; this mezzo was built without it");
}

void save_npz(const std::string& path, const std::map<std::string, Tensor>&) {
  fail<Error>(fmt::format("[save_npz \"{}\"]", path), "needs libarchive; this mezzo was built without it");
}

#endif

}  // namespace mezzo
