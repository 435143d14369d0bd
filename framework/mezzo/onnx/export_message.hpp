#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <mezzo/onnx/export_model.hpp>

namespace mezzo::detail {

/// Facts about the file besides its graph.
struct ExportFacts {
  std::string graph_name;
  std::map<std::string, std::string> metadata{};
  std::uint64_t embedded_bytes = std::uint64_t{2'000'000'000};  ///< of arrays in the file; more go to a second file
};

/// Writes an ONNX file and, for many bytes of arrays, its file of external data, `path` with ".data" behind it.
/// `symbols`: names of open sizes.
void write_exported(const ExportedModel& model, const std::map<TracedNumber, std::string>& symbols,
                    const ExportFacts& facts, const std::string& path, const std::string& where);

}  // namespace mezzo::detail
