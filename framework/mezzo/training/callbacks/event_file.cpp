#include <mezzo/training/callbacks/event_file.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/callbacks/texts.hpp>

namespace mezzo::detail {
namespace {

constexpr const char* board_label = "[TensorBoard]";
constexpr std::uint32_t polynomial = 0x82F63B78;  // Castagnoli's, reflected

std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
    table[i] = crc;
  }
  return table;
}

/// The bytes of a number in memory order, which is little-endian on all CPUs of this library.
template <class T>
std::string bytes_of(T number) {
  std::string out(sizeof number, '\0');
  std::memcpy(out.data(), &number, sizeof number);
  return out;
}

// Encoding of protocol buffers: a key (number of the field, wire type), then the value.
enum class Wire : std::uint32_t { varint = 0, bits64 = 1, bytes = 2, bits32 = 5 };

std::string varint(std::uint64_t number) {
  std::string out;
  for (; number >= 0x80; number >>= 7) out += static_cast<char>((number & 0x7F) | 0x80);
  return out + static_cast<char>(number);
}

std::string key(std::uint32_t field, Wire wire) { return varint((field << 3) | static_cast<std::uint32_t>(wire)); }

std::string integer(std::uint32_t field, std::int64_t number) {
  return key(field, Wire::varint) + varint(static_cast<std::uint64_t>(number));
}

std::string real(std::uint32_t field, double number) { return key(field, Wire::bits64) + bytes_of(number); }

std::string real32(std::uint32_t field, double number) {
  return key(field, Wire::bits32) + bytes_of(static_cast<float>(number));
}

std::string bytes(std::uint32_t field, const std::string& value) {
  return key(field, Wire::bytes) + varint(value.size()) + value;
}

std::string reals(std::uint32_t field, const std::vector<double>& numbers) {
  std::string packed;
  for (const double number : numbers) packed += bytes_of(number);
  return bytes(field, packed);
}

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

}  // namespace

std::uint32_t crc32c(const std::string& bytes) {
  static const std::array<std::uint32_t, 256> table = make_table();
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char c : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  return ~crc;
}

std::uint32_t masked_crc32c(const std::string& bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8;
}

EventFile::EventFile(const std::string& folder) {
  static std::atomic<int> files{0};
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  path_ =
      fmt::format("{}/events.out.tfevents.{:.0f}.{}.{}.{}.v2", folder, std::floor(now()), host, ::getpid(), files++);
  make_folder_of(board_label, path_);
  file_.open(path_, std::ios::binary | std::ios::app);
  if (!file_) fail<FileError>(board_label, "file \"{}\" can't be opened", path_);
  write_event(bytes(3, "brain.Event:2"));  // file_version
}

void EventFile::write_event(const std::string& body) {
  const std::string event = real(1, now()) + body;  // wall_time
  const std::string length = bytes_of(static_cast<std::uint64_t>(event.size()));
  file_ << length << bytes_of(masked_crc32c(length)) << event << bytes_of(masked_crc32c(event));
  if (!file_) fail<FileError>(board_label, "file \"{}\": a write failed", path_);
}

void EventFile::write_summary(const std::string& value, std::int64_t step) {
  write_event(integer(2, step) + bytes(5, bytes(1, value)));  // step, summary.value
}

void EventFile::scalar(const std::string& tag, double value, std::int64_t step) {
  write_summary(bytes(1, tag) + real32(2, value), step);  // tag, simple_value
}

void EventFile::histogram(const std::string& tag, const Tensor& values, std::int64_t step) {
  constexpr std::size_t buckets = 30;  // as tf.summary.histogram
  std::vector<double> numbers = values.to_doubles();
  numbers.erase(std::remove_if(numbers.begin(), numbers.end(), [](double x) { return !std::isfinite(x); }),
                numbers.end());
  if (numbers.empty()) return;
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  const double low = *least, high = *most, width = (high - low) / buckets;
  std::vector<double> limits, counts(buckets);
  for (std::size_t i = 1; i <= buckets; ++i)
    limits.push_back(i == buckets ? high : low + width * static_cast<double>(i));
  double sum = 0, squares = 0;
  for (const double x : numbers) {
    const auto place = width > 0 ? static_cast<std::size_t>((x - low) / width) : 0;
    ++counts[std::min(place, buckets - 1)];
    sum += x;
    squares += x * x;
  }
  const std::string histogram = real(1, low) + real(2, high) + real(3, static_cast<double>(numbers.size())) +
                                real(4, sum) + real(5, squares) + reals(6, limits) + reals(7, counts);
  write_summary(bytes(1, tag) + bytes(5, histogram), step);  // tag, histo
}

void EventFile::flush() {
  file_ << std::flush;
  if (!file_) fail<FileError>(board_label, "file \"{}\": a write failed", path_);
}

}  // namespace mezzo::detail
