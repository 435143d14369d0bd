#include <mezzo/datasets/bible_file.hpp>

#include <algorithm>
#include <memory>
#include <new>

#include <mezzo/core/fail.hpp>

#if MEZZO_WITH_LIBARCHIVE
#include <archive.h>
#endif

namespace mezzo::datasets::detail {
namespace {

// Places in the file's header; numbers are big-endian.
constexpr char signature[] = {'E', 'C', '0', '2'};
constexpr std::size_t window_size_at = 0x54;
constexpr std::size_t window_count_at = 0x58;
constexpr std::size_t offsets_at = 0x5c;  // one offset per window, then the end of the last window

constexpr std::uint64_t largest_text = std::uint64_t{64} << 20;

std::uint64_t number_at(const mezzo::detail::Bytes& bytes, std::size_t at) {
  return mezzo::detail::big_endian(bytes.data() + at);
}

#if MEZZO_WITH_LIBARCHIVE

struct FreeArchive {
  void operator()(archive* reader) const { archive_read_free(reader); }
};

/// Appends at most `limit` bytes of text from the compressed window in [begin, end). Throws a FileError. libarchive
/// rejects clear codes among the first 256 codes of a window; `compress` writes clear codes only after 65,280 codes.
void append_window(const std::uint8_t* begin, const std::uint8_t* end, std::size_t limit, std::string& out,
                   const std::string& where) {
  // The windows lack the header of a `.Z` file: magic number, flag of the clear code (0x80), longest code in bits.
  mezzo::detail::Bytes file{0x1f, 0x9d, 0x80 | 16};
  file.insert(file.end(), begin, end);
  const std::unique_ptr<archive, FreeArchive> reader(archive_read_new());
  if (!reader) throw std::bad_alloc();
  archive_read_support_filter_compress(reader.get());
  archive_read_support_format_raw(reader.get());
  archive_entry* entry = nullptr;
  la_ssize_t count = -1;
  if (archive_read_open_memory(reader.get(), file.data(), file.size()) == ARCHIVE_OK &&
      archive_read_next_header(reader.get(), &entry) == ARCHIVE_OK) {
    // In small parts: the file's header may announce more text than the file has.
    constexpr std::size_t part = std::size_t{1} << 16;
    do {
      const std::size_t size = out.size(), wanted = std::min(part, limit);
      out.resize(size + wanted);
      count = archive_read_data(reader.get(), out.data() + size, wanted);
      out.resize(size + static_cast<std::size_t>(std::max<la_ssize_t>(count, 0)));
      limit -= out.size() - size;
    } while (count > 0 && limit > 0);
  }
  if (count < 0) {
    const char* const text = archive_error_string(reader.get());
    fail<FileError>(where, "must be compressed data; got {} bytes that are not (libarchive: {})", end - begin,
                    text == nullptr ? "an error" : text);
  }
}

#else

void append_window(const std::uint8_t*, const std::uint8_t*, std::size_t, std::string&, const std::string& where) {
  fail<Error>(where, "must be expanded by libarchive; this mezzo was built without it");
}

#endif

}  // namespace

std::string read_bible_file(const mezzo::detail::Bytes& bytes, const std::string& path) {
  const std::string where = fmt::format("[bible_kjv] \"{}\":", path);
  if (bytes.size() < offsets_at || !std::equal(signature, signature + sizeof signature, bytes.begin())) {
    fail<FileError>(where, "must start with a header of {} bytes that begins with EC02; got a file of {} bytes",
                    offsets_at, bytes.size());
  }
  const std::uint64_t size = number_at(bytes, window_size_at);
  const std::uint64_t count = number_at(bytes, window_count_at);
  if (size == 0 || count == 0 || size > largest_text / count) {
    fail<FileError>(where, "must hold 1 to {} bytes of text; got {} windows of {} bytes", largest_text, count, size);
  }
  const std::uint64_t header = offsets_at + 4 * (count + 1);
  if (bytes.size() < header) {
    fail<FileError>(where, "must have a header of {} bytes; got a file of {} bytes", header, bytes.size());
  }
  std::string text;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t begin = number_at(bytes, offsets_at + 4 * i);
    const std::uint64_t end = number_at(bytes, offsets_at + 4 * (i + 1));
    const std::string window = fmt::format("{} window {}", where, i);
    if (begin > end || end > bytes.size()) {
      fail<FileError>(window, "must lie in the file; got bytes {} to {} of {}", begin, end, bytes.size());
    }
    const std::size_t before = text.size();
    append_window(bytes.data() + begin, bytes.data() + end, size, text, window);
    const std::size_t expanded = text.size() - before;
    if (expanded != size && i + 1 < count) {
      fail<FileError>(window, "must have {} bytes of text; got {}", size, expanded);
    }
  }
  return text;
}

}  // namespace mezzo::datasets::detail
