#pragma once
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>

namespace mezzo::detail {

/// Writes an event file of TensorBoard: records of TFRecord (length, masked CRC-32C of the length, data, masked CRC-32C
/// of the data), each a message `tensorflow.Event` of TensorFlow's event.proto and summary.proto.
class EventFile {
 public:
  /// Makes the folder and a file with a new name in it. A FileError if that fails.
  explicit EventFile(const std::string& folder);

  /// Adds a number of a step. A FileError if the file can't be written.
  void scalar(const std::string& tag, double value, std::int64_t step);

  /// Adds a histogram of the elements, in 30 buckets of equal width. Non-finite elements are left out.
  void histogram(const std::string& tag, const Tensor& values, std::int64_t step);

  void flush();

 private:
  void write_event(const std::string& body);
  void write_summary(const std::string& value, std::int64_t step);

  std::string path_;
  std::ofstream file_;
};

/// CRC-32C (Castagnoli) of bytes, and its form in TFRecord files.
std::uint32_t crc32c(const std::string& bytes);
std::uint32_t masked_crc32c(const std::string& bytes);

}  // namespace mezzo::detail
