#pragma once
#include <string>
#include <vector>

#include <mezzo/report/display/mime_bundle.hpp>
#include <mezzo/training/history.hpp>

namespace mezzo {

struct LineChartOptions {
  std::vector<std::string> names{};  ///< of the history, a line each; {}: all
  std::string title{};
  int width = 480;  ///< in pixels, at least 200
  int height = 300;
};

/// A training curve: numbers of a History by epoch, as a notebook shows it or a file keeps it.
///
///     LineChart(history, {.names = {"loss", "val_loss"}})
///
/// Numbers that are not finite are gaps.
class LineChart {
 public:
  /// A NameError for a name that the history doesn't have, a ValueError if it has no epochs or no names, if a name has
  /// not one number an epoch, or for a size below 200.
  explicit LineChart(History history, LineChartOptions options = {});

  /// An SVG file's text. Each number is a circle whose title is "val_loss, epoch 3: 0.512".
  std::string svg() const;

  /// image/svg+xml, and the numbers as a table in text/plain.
  MimeBundle mime() const;

 private:
  History history_;
  LineChartOptions options_;
};

}  // namespace mezzo
