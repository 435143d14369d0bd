#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/checked_bytes.hpp>
#include <mezzo/io/npy_format.hpp>
#include <mezzo/io/npy_text.hpp>

namespace mezzo::detail {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view magic = "\x93NUMPY"sv;
constexpr std::size_t max_npy_rank = 64;  // numpy's

/// Bytes as shown in an error text: at most 60, and those that don't print as "\x93".
std::string shown(std::string_view bytes) {
  std::string text;
  for (const char c : bytes.substr(0, 60)) {
    if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return bytes.size() > 60 ? text + "..." : text;
}

/// Parser of the header's text, a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class HeaderText {
 public:
  HeaderText(std::string_view text, const std::string& where) : text_(text), rest_(text), where_(where) {}

  NpyHeader parse() {
    if (!rest_.take('{')) malformed();
    while (!rest_.take('}')) {
      const auto key = rest_.quoted();
      if (!key || !rest_.take(':')) malformed();
      if (*key == "descr" && !type_) {
        type_ = type();
      } else if (*key == "fortran_order" && !fortran_order_) {
        fortran_order_ = truth();
      } else if (*key == "shape" && !shape_) {
        shape_ = shape();
      } else {
        malformed();
      }
      if (!rest_.take(',') && !rest_.at('}')) malformed();
    }
    rest_.skip_space();
    if (!rest_.rest().empty() || !type_ || !fortran_order_ || !shape_) malformed();
    return {.type = *std::move(type_), .fortran_order = *fortran_order_, .shape = *std::move(shape_)};
  }

 private:
  [[noreturn]] void malformed() const {
    fail<FileError>(where_, "the header must be a dictionary of 'descr', 'fortran_order' and 'shape'; got {}",
                    shown(text_));
  }

  NpyType type() {
    std::string_view rest = rest_.rest();
    const std::string_view given = rest;
    auto parsed = parse_npy_type(rest);
    if (!parsed) fail<FileError>(where_, "'descr' must be a dtype of numpy; got {}", shown(given));
    rest_ = NpyText(rest);
    return *std::move(parsed);
  }

  bool truth() {
    if (rest_.take("True"sv)) return true;
    if (rest_.take("False"sv)) return false;
    malformed();
  }

  Shape shape() {
    auto sizes = rest_.shape();
    if (!sizes) malformed();
    if (sizes->size() > max_npy_rank) {
      fail<FileError>(where_, "the rank must be at most {}; got {}", max_npy_rank, sizes->size());
    }
    return *std::move(sizes);
  }

  std::string_view text_;
  NpyText rest_;
  const std::string& where_;
  std::optional<NpyType> type_;
  std::optional<bool> fortran_order_;
  std::optional<Shape> shape_;
};

}  // namespace

NpyHeader read_npy_header(const ReadBytes& read, std::uint64_t size, const std::string& where) {
  std::array<char, 12> start{};
  const std::string_view bytes(start.data(), start.size());
  const std::size_t first = magic.size() + 2;  // the version follows
  read(start.data(), static_cast<std::size_t>(std::min<std::uint64_t>(size, first)));
  if (size < first || bytes.substr(0, magic.size()) != magic) {
    fail<FileError>(where, "must begin with {} and a version; got {}", shown(magic),
                    shown(bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(size, first)))));
  }
  const int major = static_cast<unsigned char>(start[6]), minor = static_cast<unsigned char>(start[7]);
  if (major < 1 || major > 3 || minor != 0) {
    fail<FileError>(where, "the version must be 1.0, 2.0 or 3.0; got {}.{}", major, minor);
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t begin = first + length_bytes;
  if (size < begin) fail<FileError>(where, "must begin with {} bytes before the header; got {}", begin, size);
  read(start.data() + first, length_bytes);
  std::uint64_t length = 0;
  for (std::size_t i = begin; i-- > first;) length = length << 8U | static_cast<unsigned char>(start[i]);
  if (length > size - begin) {
    fail<FileError>(where, "the header must have {} bytes, as its length says; got {}", length, size - begin);
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  read(text.data(), text.size());
  NpyHeader header = HeaderText(text, where).parse();
  const NpyType& type = header.type;
  if (type.bytes == 0) return header;  // objects are a pickle
  const auto expected = checked_bytes(header.shape, type.bytes);
  const std::uint64_t given = size - begin - length;
  if (expected != given) {
    fail<FileError>(where, "{} {} must have {} bytes of elements; got {}",
                    type.dtype ? dtype_name(*type.dtype) : describe_npy_type(type), header.shape,
                    describe_bytes(expected), given);
  }
  return header;
}

}  // namespace mezzo::detail
