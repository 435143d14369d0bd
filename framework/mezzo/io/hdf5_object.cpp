#include <mezzo/io/hdf5_object.hpp>

#include <algorithm>

namespace mezzo::detail {
namespace {

constexpr std::uint64_t most_axis = std::uint64_t{1} << 40U;
constexpr std::size_t most_hdf5_axes = 32, most_messages = 65536;

/// Numbers of the messages in headers.
enum : std::uint64_t {
  space_message = 1,
  link_info_message = 2,
  type_message = 3,
  link_message = 6,
  external_message = 7,
  layout_message = 8,
  filter_message = 11,
  attribute_message = 12,
  continuation_message = 16,
  symbol_table_message = 17,
  attribute_info_message = 21
};

std::optional<DType> float_dtype(Hdf5Cursor& part, std::uint64_t sign, std::size_t size) {
  const std::uint64_t offset = part.number(2), precision = part.number(2), exponent = part.number(1),
                      exponent_bits = part.number(1), mantissa = part.number(1), mantissa_bits = part.number(1),
                      bias = part.number(4);
  const auto is = [&](std::uint64_t s, std::uint64_t e, std::uint64_t bits, std::uint64_t b) {
    return sign == s && exponent == e && exponent_bits == bits && bias == b && mantissa_bits == e && precision == s + 1;
  };
  if (offset != 0 || mantissa != 0) return {};
  if (size == 4 && is(31, 23, 8, 127)) return DType::float32;
  if (size == 8 && is(63, 52, 11, 1023)) return DType::float64;
  if (size == 2 && is(15, 10, 5, 15)) return DType::float16;
  if (size == 2 && is(15, 7, 8, 127)) return DType::bfloat16;
  return {};
}

std::optional<DType> integer_dtype(Hdf5Cursor& part, bool has_sign, std::size_t size) {
  const std::uint64_t offset = part.number(2), precision = part.number(2);
  if (offset != 0 || precision != 8 * size) return {};
  if (size == 1) return has_sign ? DType::int8 : DType::uint8;
  if (size == 2 && has_sign) return DType::int16;
  if (size == 4) return has_sign ? DType::int32 : DType::int64;
  if (size == 8) return DType::int64;
  return {};
}

Hdf5Type read_type(Hdf5Cursor& part) {
  constexpr std::uint64_t integer = 0, floating = 1, text = 3, opaque = 5, enumeration = 8, variable = 9;
  const std::uint64_t kind = part.number(1) & 15U, bits = part.number(3);
  Hdf5Type type;
  type.size = static_cast<std::size_t>(part.number(4));
  type.big_endian = (bits & 1U) != 0;
  if (kind == integer) type.dtype = integer_dtype(part, (bits & 8U) != 0, type.size);
  if (kind == floating) type.dtype = float_dtype(part, bits >> 8U & 255U, type.size);
  if (kind == opaque) type.big_endian = false;
  if (kind == opaque && type.size == 2) type.dtype = DType::bfloat16;
  if (kind == enumeration && type.size == 1 && (bits & 0xffffU) == 2) type.dtype = DType::boolean;
  if (type.dtype) type.kind = Hdf5Type::Kind::number;
  if (kind == text) type.kind = Hdf5Type::Kind::text;
  if (kind == variable && (bits & 15U) == 1) type.kind = Hdf5Type::Kind::variable_text;
  return type;
}

/// Sizes of the axes; none for an array without elements of any shape.
std::optional<Shape> read_space(Hdf5Cursor& part, const std::string& where) {
  const std::uint64_t version = part.number(1), rank = part.number(1);
  part.skip(1);
  const std::uint64_t kind = part.number(1);
  if (version == 1) part.skip(4);
  if (version < 1 || version > 2 || rank > most_hdf5_axes) {
    fail<FileError>(where, "an array must have 0 to {} axes: the file is damaged", most_hdf5_axes);
  }
  if (version == 2 && kind == 2) return {};
  Shape shape;
  for (std::uint64_t i = 0; i < rank; ++i) {
    const std::uint64_t size = part.number(8);
    if (size > most_axis) fail<FileError>(where, "sizes of arrays must be at most 2^40; got {}", size);
    shape.push_back(static_cast<std::int64_t>(size));
  }
  return shape;
}

Hdf5Layout read_layout(Hdf5Cursor& part, const std::string& where) {
  Hdf5Layout layout;
  const std::uint64_t version = part.number(1), kind = part.number(1);
  layout.kind = Hdf5Layout::Kind::other;
  if (version != 3) return layout;
  if (kind == 0) {
    layout.kind = Hdf5Layout::Kind::compact;
    layout.data = part.bytes(static_cast<std::size_t>(part.number(2)));
  } else if (kind == 1) {
    layout.kind = Hdf5Layout::Kind::contiguous;
    layout.address = part.address();
    layout.size = part.number(8);
  } else if (kind == 2) {
    layout.kind = Hdf5Layout::Kind::chunked;
    const std::uint64_t axes = part.number(1);
    layout.address = part.address();
    if (axes < 2 || axes > most_hdf5_axes + 1) fail<FileError>(where, "chunks must have 1 to {} axes", most_hdf5_axes);
    for (std::uint64_t i = 0; i + 1 < axes; ++i) layout.chunk.push_back(part.number(4));
  }
  return layout;
}

std::vector<int> read_filters(Hdf5Cursor& part, const std::string& where) {
  const std::uint64_t version = part.number(1), count = part.number(1);
  if (version < 1 || version > 2) fail<FileError>(where, "the filters of an array are damaged");
  if (version == 1) part.skip(6);
  std::vector<int> out;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t id = part.number(2);
    const bool named = version == 1 || id >= 256;
    const std::uint64_t name = named ? part.number(2) : 0;
    part.skip(2);
    const std::uint64_t values = part.number(2);
    part.skip(static_cast<std::size_t>(version == 1 ? (name + 7) / 8 * 8 : name));
    part.skip(static_cast<std::size_t>(4 * (version == 1 ? (values + 1) / 2 * 2 : values)));
    out.push_back(static_cast<int>(id));
  }
  return out;
}

/// None for an attribute of a form that isn't read.
std::optional<Hdf5Attribute> read_attribute(Hdf5Cursor& part, const std::string& where) {
  const std::uint64_t version = part.number(1), flags = part.number(1);
  const auto name = static_cast<std::size_t>(part.number(2)), type = static_cast<std::size_t>(part.number(2)),
             space = static_cast<std::size_t>(part.number(2));
  if (version < 1 || version > 3 || (version > 1 && flags != 0)) return {};
  if (version == 3) part.skip(1);
  const auto padded = [&](std::size_t size) { return version == 1 ? (size + 7) / 8 * 8 : size; };
  Hdf5Attribute out;
  out.name = part.text(padded(name));
  Hdf5Cursor type_part(part.bytes(padded(type)), where), space_part(part.bytes(padded(space)), where);
  out.type = read_type(type_part);
  const std::optional<Shape> shape = read_space(space_part, where);
  if (!shape) return {};
  out.shape = *shape;
  out.data = part.bytes(part.left());
  return out;
}

Hdf5Link read_link(Hdf5Cursor& part, const std::string& where) {
  constexpr unsigned has_type = 8, has_order = 4, has_charset = 16;
  const std::uint64_t version = part.number(1), flags = part.number(1);
  if (version != 1) fail<FileError>(where, "a link is damaged");
  Hdf5Link link;
  if ((flags & has_type) != 0) link.hard = part.number(1) == 0;
  if ((flags & has_order) != 0) part.skip(8);
  if ((flags & has_charset) != 0) part.skip(1);
  const std::uint64_t length = part.number(std::size_t{1} << (flags & 3U));
  if (length > part.left()) fail<FileError>(where, "a link is damaged");
  link.name = part.text(static_cast<std::size_t>(length));
  if (link.hard) link.address = part.address();
  return link;
}

class ObjectReader {
 public:
  ObjectReader(const Hdf5Source& source, Hdf5Object& object) : source_(source), object_(object) {}

  void read(std::uint64_t address) {
    Hdf5Cursor prefix(source_.read(address, 16), source_.where());
    if (prefix.number(1) != 1) {
      fail<FileError>(source_.where(), "an object must have a header of version 1, as h5py writes it by default");
    }
    prefix.skip(1);
    left_ = static_cast<std::size_t>(prefix.number(2));
    prefix.skip(4);
    parts_.push_back({address + 16, prefix.number(4)});
    // NOLINTNEXTLINE(modernize-loop-convert): parts are added
    for (std::size_t i = 0; i < parts_.size(); ++i) read_part(parts_[i].first, parts_[i].second);
  }

 private:
  void read_part(std::uint64_t address, std::uint64_t size) {
    Hdf5Cursor part(source_.read(address, size), source_.where());
    while (left_ > 0 && part.left() >= 8) {
      --left_;
      const std::uint64_t kind = part.number(2), bytes = part.number(2), flags = part.number(1);
      part.skip(3);
      Hdf5Cursor message(part.bytes(static_cast<std::size_t>(bytes)), source_.where());
      constexpr unsigned shared = 2;
      if ((flags & shared) != 0) {
        if (kind == type_message) object_.type = Hdf5Type{};  // a named type
        continue;
      }
      take(kind, message);
    }
  }

  void take(std::uint64_t kind, Hdf5Cursor& message) {
    const std::string& where = source_.where();
    switch (kind) {
      case space_message:
        object_.shape = read_space(message, where);
        object_.null_space = !object_.shape;
        break;
      case type_message:
        object_.type = read_type(message);
        break;
      case layout_message:
        object_.layout = read_layout(message, where);
        break;
      case filter_message:
        object_.filters = read_filters(message, where);
        break;
      case external_message:
        object_.external = true;
        break;
      case attribute_message:
        if (auto attribute = read_attribute(message, where)) object_.attributes.push_back(std::move(*attribute));
        break;
      case link_message:
        object_.has_links = true;
        object_.links.push_back(read_link(message, where));
        break;
      case link_info_message:
        read_link_info(message);
        break;
      case symbol_table_message:
        object_.has_tree = true;
        object_.tree = message.address();
        object_.heap = message.address();
        break;
      case continuation_message:
        add_part(message);
        break;
      default:
        break;
    }
  }

  void read_link_info(Hdf5Cursor& message) {
    object_.has_links = true;
    message.skip(1);
    if ((message.number(1) & 1U) != 0) message.skip(8);
    if (message.address() != hdf5_nowhere) object_.dense = true;
  }

  void add_part(Hdf5Cursor& message) {
    const std::uint64_t address = message.address(), size = message.number(8);
    source_.check_place(address, size);
    total_ += size;
    if (parts_.size() > most_messages || total_ > source_.size()) {
      fail<FileError>(source_.where(), "the header of an object is damaged");
    }
    parts_.emplace_back(address, size);
  }

  const Hdf5Source& source_;
  Hdf5Object& object_;
  std::size_t left_ = 0;     // messages
  std::uint64_t total_ = 0;  // bytes of continuations
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parts_;
};

}  // namespace

Hdf5Object read_hdf5_object(const Hdf5Source& source, std::uint64_t address) {
  Hdf5Object object;
  ObjectReader(source, object).read(address);
  return object;
}

}  // namespace mezzo::detail
