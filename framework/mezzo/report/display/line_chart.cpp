#include <mezzo/report/display/line_chart.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <mezzo/core/fail.hpp>
#include <mezzo/report/display/chart_data.hpp>
#include <mezzo/report/display/encodings.hpp>
#include <mezzo/report/display/text.hpp>

namespace mezzo {
namespace {

constexpr const char* chart_label = "[LineChart]";
constexpr double left = 56;  // margins around the lines, in pixels
constexpr double right = 16;
constexpr double top = 32;
constexpr double bottom = 40;
constexpr double legend_line = 16;

// Palette of Okabe and Ito for color-blind readers.
const char* color(std::size_t line) {
  static const char* const colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};
  return colors[line % std::size(colors)];
}

/// Axis of the range of the finite numbers.
detail::Axis number_axis(const History& history) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const auto& entry : history.history) {
    for (const double number : entry.second) {
      if (!std::isfinite(number)) continue;
      low = std::min(low, number);
      high = std::max(high, number);
    }
  }
  return low <= high ? detail::round_axis(low, high) : detail::round_axis(0, 1);
}

class Drawing {
 public:
  Drawing(const History& history, const LineChartOptions& options)
      : history_(history),
        options_(options),
        epochs_(detail::epoch_axis(history.epoch.front(), history.epoch.back())),
        numbers_(number_axis(history)) {}

  std::string text() {
    svg_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
        options_.width, options_.height);
    write(options_.width / 2.0, top / 2 + 4, "middle", options_.title);
    marks();
    write((left + options_.width - right) / 2, options_.height - 8.0, "middle", "epoch");
    std::size_t index = 0;
    for (const std::string& name : options_.names) line(name, index++);
    return svg_ + "</svg>\n";
  }

 private:
  double x(double epoch) const { return left + epochs_.position(epoch) * (options_.width - left - right); }
  double y(double number) const {
    return options_.height - bottom - numbers_.position(number) * (options_.height - top - bottom);
  }

  void write(double at_x, double at_y, const char* anchor, const std::string& text) {
    if (text.empty()) return;
    svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at_x, at_y, anchor,
                        detail::xml_escaped(text));
  }

  void marks() {
    for (const double mark : numbers_.marks) {
      svg_ += fmt::format("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"#dddddd\"/>\n", left, y(mark),
                          options_.width - right);
      write(left - 6, y(mark) + 4, "end", fmt::format("{:.4g}", mark));
    }
    for (const double mark : epochs_.marks) {
      write(x(mark), options_.height - bottom + 16, "middle", fmt::format("{:.0f}", mark));
    }
  }

  void line(const std::string& name, std::size_t index) {
    const std::vector<double>& numbers = history_.history.at(name);
    const std::vector<int>& epochs = history_.epochs_of(name);
    std::string path;
    std::string points;
    bool drawing = false;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const bool finite = std::isfinite(numbers[i]);
      if (finite) {
        const double at_x = x(epochs[i]);
        const double at_y = y(numbers[i]);
        path += fmt::format("{}{:.1f} {:.1f}", drawing ? "L" : "M", at_x, at_y);
        points +=
            fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}, epoch {}: {:.6g}</title></circle>\n",
                        at_x, at_y, detail::xml_escaped(name), epochs[i], numbers[i]);
      }
      drawing = finite;
    }
    svg_ += fmt::format("<g fill=\"{0}\">\n<path d=\"{1}\" fill=\"none\" stroke=\"{0}\" stroke-width=\"1.5\"/>\n{2}",
                        color(index), path, points);
    write(options_.width - right - 6, top + 12 + legend_line * static_cast<double>(index), "end", name);
    svg_ += "</g>\n";
  }

  const History& history_;
  const LineChartOptions& options_;
  detail::Axis epochs_;
  detail::Axis numbers_;
  std::string svg_;
};

/// Part of a history with these names.
History selected(const History& history, const std::vector<std::string>& names) {
  History out{history.epoch, {}, {}};
  for (const std::string& name : names) {
    const auto found = history.history.find(name);
    if (found == history.history.end()) {
      std::vector<std::string> known;
      for (const auto& entry : history.history) known.push_back(entry.first);
      fail_unknown(chart_label, "name", name, known);
    }
    out.history.insert(*found);
    if (const auto some = history.some.find(name); some != history.some.end()) out.some.insert(*some);
  }
  return out;
}

}  // namespace

LineChart::LineChart(History history, LineChartOptions options)
    : history_(std::move(history)), options_(std::move(options)) {
  if (options_.names.empty()) {
    for (const auto& entry : history_.history) options_.names.push_back(entry.first);
  }
  history_ = selected(history_, options_.names);
  if (history_.epoch.empty() || history_.history.empty()) {
    fail<ValueError>(chart_label, "the history must have epochs and names; got {} and {}", history_.epoch.size(),
                     history_.history.size());
  }
  detail::check_history(history_, chart_label);
  constexpr int least = 200;
  if (options_.width < least || options_.height < least) {
    fail<ValueError>(chart_label, "width and height must be at least {}; got {}, {}", least, options_.width,
                     options_.height);
  }
}

std::string LineChart::svg() const { return Drawing(history_, options_).text(); }

MimeBundle LineChart::mime() const { return {{"image/svg+xml", svg()}, {"text/plain", to_text(history_)}}; }

}  // namespace mezzo
