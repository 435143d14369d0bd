#include <mezzo/io/npy_type.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include <mezzo/io/npy_text.hpp>

namespace mezzo::detail {
namespace {

using namespace std::string_view_literals;

struct NumpyNumber {
  std::string_view kind;  // without the byte order
  std::string_view name;
  std::optional<DType> dtype;
};

constexpr std::array<NumpyNumber, 18> numpy_numbers{{{"f4", "float32", DType::float32},
                                                     {"f8", "float64", DType::float64},
                                                     {"f2", "float16", DType::float16},
                                                     {"i1", "int8", DType::int8},
                                                     {"i2", "int16", DType::int16},
                                                     {"i4", "int32", DType::int32},
                                                     {"i8", "int64", DType::int64},
                                                     {"u1", "uint8", DType::uint8},
                                                     {"b1", "bool", DType::boolean},
                                                     {"u2", "uint16", DType::int32},
                                                     {"u4", "uint32", DType::int64},
                                                     {"u8", "uint64", DType::int64},
                                                     {"f16", "longdouble", std::nullopt},
                                                     {"f12", "longdouble", std::nullopt},
                                                     {"c8", "complex64", std::nullopt},
                                                     {"c16", "complex128", std::nullopt},
                                                     {"c32", "clongdouble", std::nullopt},
                                                     {"c24", "clongdouble", std::nullopt}}};

constexpr std::array<std::pair<char, std::string_view>, 7> other_kinds{{{'U', "texts"},
                                                                        {'S', "bytes"},
                                                                        {'a', "bytes"},
                                                                        {'O', "objects"},
                                                                        {'M', "dates"},
                                                                        {'m', "differences of dates"},
                                                                        {'V', "bytes without a type"}}};

constexpr int most_nested_types = 8;
constexpr std::uint64_t most_type_bytes = std::numeric_limits<std::int32_t>::max();  // numpy's

const NumpyNumber* number_of(const std::string& descr) {
  if (descr.size() < 2 || "<>|="sv.find(descr.front()) == std::string_view::npos) return nullptr;
  for (const NumpyNumber& known : numpy_numbers) {
    if (known.kind == std::string_view(descr).substr(1)) return &known;
  }
  return nullptr;
}

/// Type of a descr without fields; nullopt if numpy has none of that name.
std::optional<NpyType> plain_type(const std::string& descr) {
  if (descr.size() < 2 || "<>|="sv.find(descr.front()) == std::string_view::npos) return std::nullopt;
  NpyType type{.descr = descr, .dtype = std::nullopt, .fields = {}};
  std::uint64_t count = 0;
  const char* const end = descr.data() + descr.size();
  const auto [rest, error] = std::from_chars(descr.data() + 2, end, count);
  const bool sized = error == std::errc() && rest == end;
  if (const NumpyNumber* number = number_of(descr)) {
    type.dtype = number->dtype;
    type.bytes = count;
    type.big_endian = descr.front() == '>' && count > 1;
    return type;
  }
  const char kind = descr[1];
  const auto known = std::find_if(other_kinds.begin(), other_kinds.end(), [&](auto& row) { return row.first == kind; });
  if (known == other_kinds.end()) return std::nullopt;
  constexpr std::uint64_t date_bytes = 8, text_bytes = 4;
  if (kind == 'O') return type;
  if (kind == 'M' || kind == 'm') {
    type.bytes = date_bytes;
    return type;
  }
  if (!sized || count > most_type_bytes) return std::nullopt;
  type.bytes = kind == 'U' ? count * text_bytes : count;
  return type;
}

std::optional<NpyType> parse_type(NpyText& text, int depth);

/// Name of a field: 'x', or ('title', 'x').
std::optional<std::string> parse_field_name(NpyText& text) {
  if (!text.take('(')) return text.quoted();
  const auto title = text.quoted();
  if (!title || !text.take(',')) return std::nullopt;
  const auto name = text.quoted();
  return text.take(')') ? name : std::nullopt;
}

/// A field, ('x', '<f4') or ('x', '<f4', (3,)), that is added to the type.
bool parse_field(NpyText& text, NpyType& type, int depth) {
  if (!text.take('(')) return false;
  auto name = parse_field_name(text);
  if (!name || !text.take(',')) return false;
  auto inner = parse_type(text, depth + 1);
  if (!inner) return false;
  std::uint64_t bytes = inner->bytes;
  if (text.take(',') && !text.at(')')) {
    const auto shape = text.shape();
    if (!shape) return false;
    inner->shape.insert(inner->shape.begin(), shape->begin(), shape->end());
    for (const auto size : *shape) {
      if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) return false;
    }
    text.take(',');
  }
  if (!text.take(')') || bytes > most_type_bytes) return false;
  const bool pads = name->empty() && !inner->dtype;
  if (!pads) type.fields.push_back({.name = *std::move(name), .begin = type.bytes, .type = *std::move(inner)});
  type.bytes += bytes;
  return type.bytes <= most_type_bytes;
}

std::optional<NpyType> parse_type(NpyText& text, int depth) {
  if (depth > most_nested_types) return std::nullopt;
  if (!text.take('[')) {
    const auto descr = text.quoted();
    return descr ? plain_type(*descr) : std::nullopt;
  }
  NpyType type{.descr = "", .dtype = std::nullopt, .fields = {}};
  while (!text.take(']')) {
    if (!parse_field(text, type, depth)) return std::nullopt;
    if (!text.take(',') && !text.at(']')) return std::nullopt;
  }
  std::vector<std::string> names;
  for (const NpyRecordField& field : type.fields) names.push_back(field.name);
  type.descr = fmt::format("fields {}", fmt::join(names, ", "));
  return type;
}

}  // namespace

bool NpyType::is_large_unsigned() const {
  const NumpyNumber* number = fields.empty() ? number_of(descr) : nullptr;
  return number != nullptr && number->dtype && number->kind[0] == 'u' && number->kind != "u1";
}

bool NpyType::is_number() const { return fields.empty() && number_of(descr) != nullptr; }

std::optional<NpyType> parse_npy_type(std::string_view& text) {
  NpyText rest(text);
  auto type = parse_type(rest, 0);
  text = rest.rest();
  return type;
}

std::string describe_npy_type(const NpyType& type) {
  if (!type.fields.empty() || type.descr.size() < 2) return type.descr;
  if (const NumpyNumber* number = number_of(type.descr)) return fmt::format("{} ({})", number->name, type.descr);
  for (const auto& [kind, name] : other_kinds) {
    if (type.descr[1] == kind) return fmt::format("{} ({})", type.descr, name);
  }
  return type.descr;
}

std::string npy_dtype_names() {
  std::vector<std::string_view> names;
  for (const NumpyNumber& number : numpy_numbers) {
    if (number.dtype) names.push_back(number.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace mezzo::detail
