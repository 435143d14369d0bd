#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/tensor.hpp>
#include <mezzo/io/append_file.hpp>
#include <mezzo/training/loggers/protobuf.hpp>

namespace mezzo::detail {

/// Writes an event file of TensorBoard: records of TFRecord (length, masked CRC-32C of the length, data, masked CRC-32C
/// of the data), each a message `tensorflow.Event` of TensorFlow's event.proto. Records are buffered until flush().
class EventFile {
 public:
  /// Makes the folder and a file with a new name in it. A FileError, which starts with `where`, if that fails.
  EventFile(const std::string& folder, const std::string& where);

  /// Writes buffered records, and ignores errors: call flush() before.
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  /// Adds a value of a step; see summaries.hpp. This and the others: a FileError if the file can't be written.
  void summary(const ProtoMessage& value, std::int64_t step);

  /// Adds a number of a step.
  void scalar(const std::string& tag, double value, std::int64_t step);

  /// Adds a histogram of the elements. Adds nothing if no element is finite.
  void histogram(const std::string& tag, const Tensor& values, std::int64_t step);

  /// Adds a graph, a message `tensorflow.GraphDef`.
  void graph(const ProtoMessage& graph);

  void flush();

 private:
  void record(const ProtoMessage& event);

  AppendFile file_;
  std::string buffer_;
};

/// CRC-32C (Castagnoli) of bytes, and its form in TFRecord files.
std::uint32_t crc32c(const std::string& bytes);
std::uint32_t masked_crc32c(const std::string& bytes);

/// Seconds since 1970.
double wall_time();

}  // namespace mezzo::detail
