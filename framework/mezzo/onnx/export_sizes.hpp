#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/onnx/export_graph.hpp>
#include <mezzo/onnx/export_traces.hpp>

namespace mezzo::detail {

/// Writes numbers that depend on open sizes as nodes that compute them from the shapes of earlier values.
class ExportSizes {
 public:
  explicit ExportSizes(ExportGraph& graph) : graph_(graph) {}

  /// Adds the open sizes of a value to those that later numbers are computed from.
  void note(const std::string& value, const TracedShape& shape);

  /// The numbers as int64 (n,). Throws a ValueError that starts with `where` for a number that isn't found.
  std::string list(const TracedShape& numbers, const std::string& where);

  /// A number as int64 of shape ().
  std::string scalar(const TracedNumber& number, const std::string& where);

  /// A number that is an open size times or divided by a fixed number, in that dtype; nothing if it is not.
  std::optional<std::string> share(const std::vector<double>& numbers, DType dtype);

 private:
  struct Place {
    std::string value;
    std::int64_t axis = 0;
  };

  std::string one(const TracedNumber& number, const std::string& where);
  std::string read(const TracedNumber& number);
  std::optional<std::string> computed(const TracedNumber& number);
  std::optional<std::string> scaled(const TracedNumber& number, const TracedNumber& from);

  ExportGraph& graph_;
  std::map<TracedNumber, Place> places_;
  std::vector<TracedNumber> order_;  // keys of places_, first ones first
  std::map<TracedNumber, std::string> written_;
};

}  // namespace mezzo::detail
