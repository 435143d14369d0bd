#include <mezzo/datasets/lzw.hpp>

#include <vector>

namespace mezzo::datasets::detail {
namespace {

constexpr int least_bits = 9;
constexpr int most_bits = 16;
constexpr std::uint32_t clear_code = 256;

// Codes from the lowest bit on. They come in groups of eight: whatever changes their width, the rest of a group is
// skipped.
class CodeReader {
 public:
  CodeReader(const std::uint8_t* bytes, std::size_t size) : bytes_(bytes), bits_left_(size * 8) {}

  bool next(std::uint32_t& code) {
    if (bits_left_ < static_cast<std::size_t>(width_)) return false;
    code = 0;
    for (int i = 0; i < width_; ++i, ++at_) code |= ((bytes_[at_ / 8] >> (at_ % 8)) & 1U) << i;
    bits_left_ -= static_cast<std::size_t>(width_);
    group_ = (group_ + 1) % 8;
    return true;
  }

  void set_width(int width) {
    const std::size_t skipped = group_ == 0 ? 0 : (8 - group_) * static_cast<std::size_t>(width_);
    at_ += skipped;
    bits_left_ -= skipped < bits_left_ ? skipped : bits_left_;
    group_ = 0;
    width_ = width;
  }

  int width() const { return width_; }

 private:
  const std::uint8_t* bytes_;
  std::size_t bits_left_;
  std::size_t at_ = 0;  // in bits
  std::size_t group_ = 0;
  int width_ = least_bits;
};

// A code's text is where the output has it.
struct Entry {
  std::size_t begin = 0;
  std::size_t size = 0;
};

}  // namespace

bool expand_lzw(const std::uint8_t* bytes, std::size_t size, std::size_t limit, std::string& out) {
  CodeReader codes(bytes, size);
  const std::size_t start = out.size();
  std::vector<Entry> entries;  // of the codes from 257 on
  Entry last;
  std::uint32_t code = 0;
  while (out.size() - start < limit && codes.next(code)) {
    if (code == clear_code) {
      entries.clear();
      last = {};
      codes.set_width(least_bits);
      continue;
    }
    // One code may be used that is only being defined: the last text and its first byte, which follows it.
    const bool defines = last.size > 0 && entries.size() + clear_code + 1 < (1U << most_bits);
    if (defines) entries.push_back({last.begin, last.size + 1});
    const std::size_t begin = out.size();
    if (code < clear_code) {
      out += static_cast<char>(static_cast<unsigned char>(code));
    } else {
      const std::size_t place = code - clear_code - 1;
      if (place >= entries.size()) return false;
      const Entry entry = entries[place];
      for (std::size_t i = 0; i < entry.size; ++i) out += out[entry.begin + i];
    }
    last = {begin, out.size() - begin};
    if (codes.width() < most_bits && entries.size() + clear_code + 1 >= (1U << codes.width())) {
      codes.set_width(codes.width() + 1);
    }
  }
  return out.size() - start <= limit;
}

}  // namespace mezzo::datasets::detail
