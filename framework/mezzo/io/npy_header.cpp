#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/checked_bytes.hpp>
#include <mezzo/io/npy_format.hpp>

namespace mezzo::detail {
namespace {

using namespace std::string_view_literals;

struct NumpyDType {
  std::string_view descr;
  DType dtype;
};

constexpr std::array<NumpyDType, 9> numpy_dtypes{{{"<f4", DType::float32},
                                                  {"<f8", DType::float64},
                                                  {"<f2", DType::float16},
                                                  {"|i1", DType::int8},
                                                  {"<i2", DType::int16},
                                                  {"<i4", DType::int32},
                                                  {"<i8", DType::int64},
                                                  {"|u1", DType::uint8},
                                                  {"|b1", DType::boolean}}};

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
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !dtype_) {
        dtype_ = dtype();
      } else if (key == "fortran_order" && !fortran_order_) {
        fortran_order_ = truth();
      } else if (key == "shape" && !shape_) {
        shape_ = shape();
      } else {
        malformed();
      }
      if (!take(',') && rest_.substr(0, 1) != "}") malformed();
    }
    skip_space();
    if (!rest_.empty() || !dtype_ || !fortran_order_ || !shape_) malformed();
    return {.dtype = *dtype_, .fortran_order = *fortran_order_, .shape = *std::move(shape_)};
  }

 private:
  [[noreturn]] void malformed() const {
    fail<FileError>(where_, "the header must be a dictionary of 'descr', 'fortran_order' and 'shape'; got {}",
                    shown(text_));
  }

  [[noreturn]] void unknown_dtype(std::string_view given) const {
    std::vector<std::string_view> names;
    for (const NumpyDType& known : numpy_dtypes) names.push_back(known.descr);
    fail<FileError>(where_, "the dtype must be one of {}; got {}", fmt::join(names, ", "), shown(given));
  }

  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }

  /// Skips the character, and spaces around it; false if another one is next.
  bool take(char c) {
    skip_space();
    if (rest_.substr(0, 1) != std::string_view(&c, 1)) return false;
    rest_.remove_prefix(1);
    skip_space();
    return true;
  }

  void expect(char c) {
    if (!take(c)) malformed();
  }

  std::string quoted() {
    const char quote = rest_.empty() ? '\0' : rest_.front();
    const std::size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) malformed();
    const std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }

  DType dtype() {
    if (rest_.substr(0, 1) == "[") unknown_dtype(rest_);  // a structured dtype
    const std::string descr = quoted();
    for (const NumpyDType& known : numpy_dtypes) {
      if (known.descr == descr) return known.dtype;
    }
    unknown_dtype(descr);
  }

  bool truth() {
    for (const auto& [word, value] : {std::pair("True"sv, true), std::pair("False"sv, false)}) {
      if (rest_.substr(0, word.size()) != word) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    malformed();
  }

  Shape shape() {
    Shape sizes;
    expect('(');
    while (!take(')')) {
      std::int64_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc() || size < 0) malformed();
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      sizes.push_back(size);
      if (!take(',') && rest_.substr(0, 1) != ")") malformed();
    }
    if (sizes.size() > max_npy_rank) {
      fail<FileError>(where_, "the rank must be at most {}; got {}", max_npy_rank, sizes.size());
    }
    return sizes;
  }

  std::string_view text_, rest_;
  const std::string& where_;
  std::optional<DType> dtype_;
  std::optional<bool> fortran_order_;
  std::optional<Shape> shape_;
};

}  // namespace

std::string npy_descr(DType dtype, const std::string& where) {
  for (const NumpyDType& known : numpy_dtypes) {
    if (known.dtype == dtype) return std::string(known.descr);
  }
  fail<DTypeError>(where, "the dtype must be one that numpy has; got {}: cast to float32 first", dtype);
}

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
  const auto expected = checked_bytes(header.shape, header.dtype);
  const std::uint64_t given = size - begin - length;
  if (expected != given) {
    fail<FileError>(where, "{} {} must have {} bytes of elements; got {}", header.dtype, header.shape,
                    expected ? fmt::format("{}", *expected) : "2^64 or more", given);
  }
  return header;
}

}  // namespace mezzo::detail
