#include <mezzo/onnx/onnx_messages.hpp>

#include <cstring>
#include <string_view>
#include <type_traits>

// The wire format of Protobuf: a key (number of the field, kind of its value), then the value.
namespace mezzo::detail::onnx {
namespace {

enum Wire : std::uint64_t { varint = 0, bits64 = 1, bytes = 2, bits32 = 5 };

constexpr int deepest_message = 100;  // as Protobuf's own limit

template <class T>
constexpr bool is_number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <class T>
constexpr std::uint64_t wire_of = std::is_same_v<T, float>    ? bits32
                                  : std::is_same_v<T, double> ? bits64
                                                              : varint;

// ---- writing

void write_varint(std::string& out, std::uint64_t number) {
  constexpr std::uint64_t low = 0x7F, more = 0x80;
  for (; number > low; number >>= 7U) out += static_cast<char>((number & low) | more);
  out += static_cast<char>(number);
}

template <class T>
void write_number(std::string& out, T number) {
  if constexpr (std::is_floating_point_v<T>) {
    char raw[sizeof number];
    std::memcpy(raw, &number, sizeof number);
    out.append(raw, sizeof number);
  } else {
    write_varint(out, static_cast<std::uint64_t>(static_cast<std::int64_t>(number)));
  }
}

void write_key(std::string& out, int field, std::uint64_t wire) {
  write_varint(out, (static_cast<std::uint64_t>(field) << 3U) | wire);
}

void write_bytes(std::string& out, int field, std::string_view value) {
  write_key(out, field, bytes);
  write_varint(out, value.size());
  out += value;
}

template <class T>
std::string written(const T& message);

struct Writer {
  std::string& out;

  template <class T>
  void operator()(int field, const std::optional<T>& value) const {
    if (value) write(field, *value);
  }
  template <class T>
  void operator()(int field, const ProtoHeld<T>& value) const {
    if (value.has()) write(field, value.get());
  }
  template <class T>
  void operator()(int field, const std::vector<T>& values) const {
    for (const T& value : values) write(field, value);
  }

  template <class T>
  void write(int field, const T& value) const {
    if constexpr (is_number<T>) {
      write_key(out, field, wire_of<T>);
      write_number(out, value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      write_bytes(out, field, value);
    } else {
      write_bytes(out, field, written(value));
    }
  }
};

template <class T>
std::string written(const T& message) {
  std::string out;
  const_cast<T&>(message).visit(Writer{out});  // NOLINT(cppcoreguidelines-pro-type-const-cast): Writer only reads
  return out;
}

// ---- reading

/// Bytes that are left. `ok` is false after a value that reaches beyond them.
struct Input {
  std::string_view rest;
  bool ok = true;

  std::uint64_t number() {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest.empty()) break;
      const auto byte = static_cast<unsigned char>(rest.front());
      rest.remove_prefix(1);
      out |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80U) return out;
    }
    ok = false;
    return 0;
  }

  std::string_view take(std::uint64_t count) {
    if (count > rest.size()) {
      ok = false;
      return {};
    }
    const std::string_view out = rest.substr(0, count);
    rest.remove_prefix(count);
    return out;
  }

  void skip(std::uint64_t wire) {
    if (wire == varint) {
      number();
    } else if (wire == bytes) {
      take(number());
    } else if (wire == bits64 || wire == bits32) {
      take(wire == bits64 ? 8 : 4);
    } else {
      ok = false;
    }
  }

  template <class T>
  T read() {
    if constexpr (std::is_floating_point_v<T>) {
      const std::string_view raw = take(sizeof(T));
      T out{};
      if (ok) std::memcpy(&out, raw.data(), sizeof out);
      return out;
    } else {
      return static_cast<T>(static_cast<std::int64_t>(number()));
    }
  }
};

template <class T>
bool parse(std::string_view content, T& message, int depth);

/// Reads the value of one field, if it is the one that is wanted.
struct Reader {
  Input& in;
  std::uint64_t wanted, wire;
  int depth;
  bool& found;

  template <class T>
  void operator()(int field, std::optional<T>& value) const {
    if (!matches<T>(field)) return;
    read(value.emplace());
  }
  template <class T>
  void operator()(int field, ProtoHeld<T>& value) const {
    if (matches<T>(field)) read(*value.mutable_get());
  }
  template <class T>
  void operator()(int field, std::vector<T>& values) const {
    if constexpr (is_number<T>) {
      if (wanted == static_cast<std::uint64_t>(field) && wire == bytes && !found) {  // packed
        found = true;
        Input packed{in.take(in.number())};
        while (packed.ok && !packed.rest.empty()) values.push_back(packed.read<T>());
        in.ok = in.ok && packed.ok;
        return;
      }
    }
    if (matches<T>(field)) read(values.emplace_back());
  }

  template <class T>
  bool matches(int field) const {
    const std::uint64_t expected = is_number<T> ? wire_of<T> : std::uint64_t{bytes};
    if (found || wanted != static_cast<std::uint64_t>(field) || wire != expected) return false;
    return found = true;
  }

  template <class T>
  void read(T& value) const {
    if constexpr (is_number<T>) {
      value = in.read<T>();
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = std::string(in.take(in.number()));
    } else {
      in.ok = parse(in.take(in.number()), value, depth + 1) && in.ok;
    }
  }
};

template <class T>
bool parse(std::string_view content, T& message, int depth) {
  if (depth > deepest_message) return false;
  Input in{content};
  while (in.ok && !in.rest.empty()) {
    const std::uint64_t key = in.number();
    bool found = false;
    if (in.ok) message.visit(Reader{in, key >> 3U, key & 7U, depth, found});
    if (in.ok && !found) in.skip(key & 7U);
  }
  return in.ok;
}

}  // namespace

std::string ModelProto::SerializeAsString() const { return written(*this); }

bool ModelProto::ParseFromArray(const void* content, std::size_t count) {
  *this = ModelProto();
  return parse({static_cast<const char*>(content), count}, *this, 0);
}

}  // namespace mezzo::detail::onnx
