#include <mezzo/training/loggers/event_file.hpp>

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/training/loggers/summaries.hpp>

namespace mezzo::detail {
namespace {

constexpr std::uint32_t polynomial = 0x82F63B78;  // Castagnoli's, reflected
constexpr std::size_t largest_buffer = std::size_t{1} << 16;

std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
    table[i] = crc;
  }
  return table;
}

std::string new_path(const std::string& folder, const std::string& where) {
  static std::atomic<int> files{0};
  check_path(folder, where);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail<FileError>(where, "folder \"{}\" can't be made: {}", folder, error.message());
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  return fmt::format("{}/events.out.tfevents.{:.0f}.{}.{}.{}.v2", folder, std::floor(wall_time()), host, ::getpid(),
                     files++);
}

}  // namespace

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

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

EventFile::EventFile(const std::string& folder, const std::string& where) : file_(new_path(folder, where), where) {
  record(ProtoMessage().text(3, "brain.Event:2"));  // file_version
}

EventFile::~EventFile() {
  try {
    flush();
  } catch (const FileError&) {  // flush() reports errors
  }
}

void EventFile::record(const ProtoMessage& event) {
  const std::string data = ProtoMessage().real(1, wall_time()).bytes() + event.bytes();  // wall_time
  const std::string length = bytes_of_number(static_cast<std::uint64_t>(data.size()));
  buffer_ += length + bytes_of_number(masked_crc32c(length)) + data + bytes_of_number(masked_crc32c(data));
  if (buffer_.size() > largest_buffer) flush();
}

void EventFile::summary(const ProtoMessage& value, std::int64_t step) {
  record(ProtoMessage().integer(2, step).message(5, ProtoMessage().message(1, value)));  // step, summary.value
}

void EventFile::scalar(const std::string& tag, double value, std::int64_t step) {
  summary(scalar_summary(tag, value), step);
}

void EventFile::histogram(const std::string& tag, const Tensor& values, std::int64_t step) {
  if (const auto value = histogram_summary(tag, values)) summary(*value, step);
}

void EventFile::graph(const ProtoMessage& graph) { record(ProtoMessage().message(4, graph)); }

void EventFile::flush() {
  if (buffer_.empty()) return;
  const std::string bytes = std::exchange(buffer_, {});
  file_.write(bytes);
}

}  // namespace mezzo::detail
