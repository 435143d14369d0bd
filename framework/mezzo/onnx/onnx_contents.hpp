#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/io/tensor_entry.hpp>

namespace mezzo::detail {

/// Contents of an ONNX file, without the numbers.
struct OnnxContents {
  std::int64_t ir_version = 0;
  std::string producer;                                         ///< "pytorch 2.8.0"; "" if the file has none
  std::vector<std::pair<std::string, std::int64_t>> opsets;     ///< by domain; "" is ONNX's own
  std::vector<std::pair<std::string, std::string>> inputs{};    ///< name, and "float32 (batch, 8)"
  std::vector<std::pair<std::string, std::string>> outputs{};   ///< the same
  std::map<std::string, std::int64_t> operators{};              ///< numbers of nodes, without those in branches
  std::vector<TensorEntry> initializers{};                      ///< the arrays of the graph
  std::vector<std::pair<std::string, std::string>> metadata{};  ///< texts by key
};

/// Reads the contents of any ONNX file, also of one that load_onnx() doesn't read. A FileError if it is missing, of
/// another kind or damaged.
MEZZO_API OnnxContents onnx_contents(const std::string& path);

}  // namespace mezzo::detail
