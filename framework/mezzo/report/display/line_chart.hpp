#pragma once
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/report/display/mime_bundle.hpp>
#include <mezzo/training/module/history.hpp>

namespace mezzo {

/// Options of LineChart.
struct LineChartOptions {
  std::vector<std::string> names{};  ///< names of the history to draw, one line each; {}: all
  std::string title{};               ///< shown above the chart; "": none
  int width = 480;                   ///< in pixels, at least 200
  int height = 300;                  ///< in pixels, at least 200
};

/// Training curves: numbers of a History by epoch, for notebooks and files. Non-finite numbers are gaps; epochs without
/// a number, as those between validations, are not.
///
///     LineChart(history, {.names = {"loss", "val_loss"}})
class MEZZO_API LineChart {
 public:
  /// A NameError for a name that the history doesn't have. A ValueError if the history has no epochs or no names, if a
  /// name doesn't have one number for each of its epochs, or for a size below 200.
  explicit LineChart(History history, LineChartOptions options = {});

  /// Text of an SVG file. Each number is a circle with a title like "val_loss, epoch 3: 0.512".
  std::string svg() const;

  /// svg() as image/svg+xml, and a table of the numbers as text/plain.
  MimeBundle mime() const;

 private:
  History history_;
  LineChartOptions options_;
};

}  // namespace mezzo
