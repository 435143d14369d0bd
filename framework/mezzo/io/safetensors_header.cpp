#include <mezzo/io/safetensors_header.hpp>

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include <nlohmann/json.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/checked_bytes.hpp>

namespace mezzo::detail {
namespace {

struct Row {
  const char* name;
  std::uint64_t bits;  // of an element
  std::optional<DType> dtype;
};

// All dtypes of the reference library, version 0.8.
constexpr std::array<Row, 22> dtypes{{{"F32", 32, DType::float32},
                                      {"F64", 64, DType::float64},
                                      {"BF16", 16, DType::bfloat16},
                                      {"F16", 16, DType::float16},
                                      {"I8", 8, DType::int8},
                                      {"I16", 16, DType::int16},
                                      {"I32", 32, DType::int32},
                                      {"I64", 64, DType::int64},
                                      {"U8", 8, DType::uint8},
                                      {"BOOL", 8, DType::boolean},
                                      {"U16", 16, std::nullopt},
                                      {"U32", 32, std::nullopt},
                                      {"U64", 64, std::nullopt},
                                      {"F8_E4M3", 8, DType::float8_e4m3fn},
                                      {"F8_E5M2", 8, DType::float8_e5m2},
                                      {"F8_E8M0", 8, std::nullopt},
                                      {"F8_E4M3FNUZ", 8, std::nullopt},
                                      {"F8_E5M2FNUZ", 8, std::nullopt},
                                      {"F6_E2M3", 6, std::nullopt},
                                      {"F6_E3M2", 6, std::nullopt},
                                      {"F4", 4, std::nullopt},
                                      {"C64", 64, std::nullopt}}};

/// Size of a tensor in bytes; nullopt if it is 2^64 or more, or if packed elements don't fill the last byte.
std::optional<std::uint64_t> bytes_of_entry(const TensorEntry& entry) {
  const std::uint64_t bits = safetensors_bits(entry.type);
  if (bits % 8 == 0) return checked_bytes(entry.shape, bits / 8);
  const auto all = checked_bytes(entry.shape, bits);
  if (!all || *all % 8 != 0) return std::nullopt;
  return *all / 8;
}

/// Text of such a size for errors.
std::string expected_bytes(const TensorEntry& entry) {
  const auto bytes = bytes_of_entry(entry);
  const bool packed = safetensors_bits(entry.type) % 8 != 0;
  return !bytes && packed ? "whole" : describe_bytes(bytes);
}

/// Receives the JSON token by token and throws a FileError at the first token that the format does not allow. A parsed
/// tree would hide duplicate keys, because the library keeps only the last one.
class Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  SafetensorsHeader header;

  bool null() override { return refuse("null"); }
  bool boolean(bool value) override { return refuse(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return refuse(fmt::format("{}", value)); }
  bool number_float(number_float_t, const string_t& text) override { return refuse(text); }
  bool binary(binary_t&) override { return refuse("bytes"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::shape && place_ != Place::offsets) return refuse(fmt::format("{}", value));
    if (place_ == Place::shape && value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return refuse(fmt::format("{}", value));
    }
    numbers_.push_back(value);
    if (place_ == Place::shape && numbers_.size() > max_rank) {
      fail_here("the rank must be at most {}; got more", max_rank);
    }
    return true;
  }

  bool string(string_t& value) override {
    if (place_ == Place::metadata_value) {
      header.metadata[field_] = value;
      place_ = Place::metadata;
    } else if (place_ == Place::dtype) {
      set_dtype(value);
      place_ = Place::tensor;
    } else {
      return refuse('"' + value + '"');
    }
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::start) {
      place_ = Place::root;
    } else if (place_ == Place::root_value) {
      place_ = name_ == metadata_name ? Place::metadata : Place::tensor;
      fields_.clear();
      entry_ = {};
      entry_.name = name_;
    } else {
      return refuse("an object");
    }
    return true;
  }

  bool key(string_t& value) override {
    if (place_ == Place::root) {
      name_ = value;
      if (!names_.insert(value).second) fail_here("the name must be unique; got it twice");
      place_ = Place::root_value;
      return true;
    }
    field_ = value;
    if (!fields_.insert(value).second) fail_here("\"{}\" must be unique; got it twice", value);
    if (place_ == Place::metadata) {
      place_ = Place::metadata_value;
    } else if (value == "dtype") {
      place_ = Place::dtype;
    } else if (value == "shape" || value == "data_offsets") {
      place_ = Place::array;
    } else {
      fail_here("the fields must be dtype, shape and data_offsets; got \"{}\"", value);
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) finish_tensor();
    place_ = Place::root;  // also after the root object, where the parser accepts nothing more
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::array) return refuse("an array");
    place_ = field_ == "shape" ? Place::shape : Place::offsets;
    numbers_.clear();
    return true;
  }

  bool end_array() override {
    if (place_ == Place::shape) {
      entry_.shape.assign(numbers_.begin(), numbers_.end());
    } else {
      if (numbers_.size() != 2) {
        fail_here("data_offsets must be two numbers; got {}", numbers_.size());
      }
      if (numbers_[1] < numbers_[0]) {
        fail_here("data_offsets must not decrease; got {}, {}", numbers_[0], numbers_[1]);
      }
      entry_.begin = numbers_[0];
      entry_.bytes = numbers_[1] - numbers_[0];
    }
    place_ = Place::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    fail<FileError>(safetensors_label(path_), "the header must be JSON; at its byte {}: {}", position,
                    std::string_view(error.what()).substr(0, 300));
  }

 private:
  enum class Place { start, root, root_value, metadata, metadata_value, tensor, dtype, array, shape, offsets };

  /// Throws a FileError that names the current tensor.
  template <class... Arguments>
  [[noreturn]] void fail_here(fmt::format_string<Arguments...> message, Arguments&&... arguments) const {
    fail<FileError>(safetensors_label(path_, name_), message, std::forward<Arguments>(arguments)...);
  }

  /// Throws a FileError about a token of the wrong type. Never returns; the type is that of the parser's callbacks.
  bool refuse(const std::string& got) const {
    static const std::map<Place, const char*> expected{{Place::root_value, "must be an object"},
                                                       {Place::metadata_value, "must be a string"},
                                                       {Place::dtype, "must be a string"},
                                                       {Place::array, "must be an array"},
                                                       {Place::shape, "must hold integers of 0 or more"},
                                                       {Place::offsets, "must hold integers of 0 or more"}};
    const std::string field = place_ == Place::root_value ? "" : field_ + " ";
    fail_here("{}{}; got {}", field, expected.at(place_), got);
  }

  void set_dtype(const std::string& value) {
    std::vector<std::string_view> names;
    for (const Row& row : dtypes) {
      names.emplace_back(row.name);
      if (value != row.name) continue;
      entry_.dtype = row.dtype;
      entry_.type = row.name;
      return;
    }
    fail_here("dtype must be one of {}; got \"{}\"", fmt::join(names, ", "), value);
  }

  void finish_tensor() {
    for (const char* field : {"dtype", "shape", "data_offsets"}) {
      if (fields_.count(field) == 0) fail_here("must have the field {}; it is missing", field);
    }
    const auto bytes = bytes_of_entry(entry_);
    if (bytes != entry_.bytes) {
      fail_here("{} {} must have {} bytes; data_offsets give {}", type_text(entry_), entry_.shape,
                expected_bytes(entry_), entry_.bytes);
    }
    header.entries.push_back(std::move(entry_));
  }

  const std::string& path_;
  Place place_ = Place::start;
  std::string name_, field_;
  std::set<std::string> names_, fields_;
  std::vector<std::uint64_t> numbers_;
  SafetensorsFile::Entry entry_;
};

/// Orders the entries by offset and checks that they fill the data without gaps.
void check_that_tensors_fill(std::vector<SafetensorsFile::Entry>& entries, std::uint64_t data_bytes,
                             const std::string& path) {
  // Stable: the order of empty tensors is that of their checksums.
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.bytes < b.bytes;
  });
  std::uint64_t end = 0;
  for (const auto& entry : entries) {
    if (entry.begin != end) {
      fail<FileError>(safetensors_label(path, entry.name),
                      "the data must begin at {}, the end of the previous tensor; got {}", end, entry.begin);
    }
    end += entry.bytes;  // no overflow: end_array() computed bytes from begin and end
  }
  if (end != data_bytes) {
    fail<FileError>(safetensors_label(path), "the tensors have {} bytes; after the header the file has {}{}", end,
                    data_bytes, end > data_bytes ? safetensors_truncated : "");
  }
}

}  // namespace

const char* safetensors_name(DType dtype) {
  return std::find_if(dtypes.begin(), dtypes.end(), [&](const Row& row) { return row.dtype == dtype; })->name;
}

std::string safetensors_label(const std::string& path, const std::string& tensor) {
  const std::string label = fmt::format("[safetensors \"{}\"]", path);
  return tensor.empty() ? label : fmt::format("{} tensor \"{}\":", label, tensor);
}

SafetensorsHeader parse_safetensors_header(const std::string& text, std::uint64_t data_bytes, const std::string& path) {
  const std::string where = safetensors_label(path);
  if (text.empty() || text.front() != '{') {
    fail<FileError>(where, "the header must begin with '{{'; got {}", text.empty() ? "nothing" : "another character");
  }
  // The parser would stop at a zero byte and accept white space that the format forbids.
  if (text.find('\0') != std::string::npos) {
    fail<FileError>(where, "the header must not have zero bytes; got one at {}", text.find('\0'));
  }
  const std::size_t last = text.find_last_not_of(' ');
  if (text[last] != '}') {
    fail<FileError>(where, "the header must end with '}}', padded with spaces; got another character at {}", last);
  }
  Reader reader(path);
  nlohmann::json::sax_parse(text, &reader);
  check_that_tensors_fill(reader.header.entries, data_bytes, path);
  return std::move(reader.header);
}

std::uint64_t safetensors_bits(const std::string& type) {
  const auto* const row =
      std::find_if(dtypes.begin(), dtypes.end(), [&](const Row& known) { return known.name == type; });
  return row == dtypes.end() ? 0 : row->bits;
}

TensorChecksum::TensorChecksum(const TensorEntry& entry) {
  const std::string head = entry.name + '\0' + entry.type + to_string(entry.shape);
  add(head.data(), head.size());
}

void TensorChecksum::add(const void* bytes, std::size_t count) {
  if (count == 0) return;
  value_ = static_cast<std::uint32_t>(crc32_z(value_, static_cast<const Bytef*>(bytes), count));
}

std::uint32_t safetensors_checksum(const SafetensorsHeader& header) {
  std::vector<const SafetensorsFile::Entry*> entries;
  for (const auto& entry : header.entries) entries.push_back(&entry);
  std::sort(entries.begin(), entries.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  std::string text;
  for (const auto& [key, value] : header.metadata) {
    if (key != checksum_name) text += key + '\0' + value + '\0';
  }
  for (const auto* entry : entries) {
    text += fmt::format("{} {} {} {} {}", entry->name, entry->type, entry->shape, entry->begin, entry->bytes);
    text += '\0';
  }
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

}  // namespace mezzo::detail
