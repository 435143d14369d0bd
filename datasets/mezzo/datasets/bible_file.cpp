#include <mezzo/datasets/bible_file.hpp>

#include <algorithm>
#include <vector>

#include <mezzo/core/error.hpp>
#include <mezzo/datasets/lzw.hpp>

namespace mezzo::datasets::detail {
namespace {

// Of the file; its numbers are big-endian.
constexpr char signature[] = {'E', 'C', '0', '2'};
constexpr std::size_t window_size_at = 0x54;
constexpr std::size_t window_count_at = 0x58;
constexpr std::size_t offsets_at = 0x5c;  // of the windows, then that of their end

std::uint64_t number_at(const Bytes& bytes, std::size_t at) { return big_endian(bytes.data() + at); }

}  // namespace

std::string read_bible_file(const Bytes& bytes, const std::string& path) {
  const auto fail = [&](const std::string& text) { return FileError("[bible_kjv] \"" + path + "\": " + text); };
  if (bytes.size() < offsets_at || !std::equal(signature, signature + sizeof signature, bytes.begin())) {
    throw fail("must start with a header that begins with EC02");
  }
  constexpr std::uint64_t largest_text = std::uint64_t{64} << 20;
  const std::uint64_t size = number_at(bytes, window_size_at);
  const std::uint64_t count = number_at(bytes, window_count_at);
  if (size == 0 || count == 0 || size > largest_text / count) {
    throw fail("must hold 1 to 67108864 bytes of text; got " + std::to_string(count) + " windows of " +
               std::to_string(size) + " bytes");
  }
  if (bytes.size() < offsets_at + 4 * (count + 1)) throw fail("is cut off in its header");
  std::string text;
  text.reserve(size * count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t begin = number_at(bytes, offsets_at + 4 * i);
    const std::uint64_t end = number_at(bytes, offsets_at + 4 * (i + 1));
    const std::string window = "window " + std::to_string(i);
    if (begin > end || end > bytes.size()) {
      throw fail(window + " must lie in the file; got bytes " + std::to_string(begin) + " to " + std::to_string(end) +
                 " of " + std::to_string(bytes.size()));
    }
    const std::size_t before = text.size();
    if (!expand_lzw(bytes.data() + begin, end - begin, size, text)) throw fail(window + " is not compressed data");
    const std::size_t expanded = text.size() - before;
    if (expanded != size && i + 1 < count) {
      throw fail(window + " must have " + std::to_string(size) + " bytes of text; got " + std::to_string(expanded));
    }
  }
  return text;
}

}  // namespace mezzo::datasets::detail
