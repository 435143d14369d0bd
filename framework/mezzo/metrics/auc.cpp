#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/losses/compose.hpp>
#include <mezzo/metrics/confusion.hpp>
#include <mezzo/metrics/host_numbers.hpp>

namespace mezzo::metrics {

using namespace detail;

namespace {

void require_name(const std::string& given, const std::vector<std::string>& valid, const char* what) {
  if (std::find(valid.begin(), valid.end(), given) == valid.end()) {
    fail<ValueError>("", "[AUC] {} must be one of {}; got \"{}\"", what, fmt::join(valid, ", "), given);
  }
}

/// The inner thresholds of the curve.
std::vector<double> inner(const AUCOptions& options) {
  if (!options.thresholds.empty()) {
    std::vector<double> sorted = options.thresholds;
    std::sort(sorted.begin(), sorted.end());
    if (!(sorted.front() >= 0 && sorted.back() <= 1)) {
      fail<ValueError>("", "[AUC] thresholds must be in [0, 1]; got {}", fmt::join(options.thresholds, ", "));
    }
    return sorted;
  }
  if (options.num_thresholds < 2) {
    fail<ValueError>("", "[AUC] num_thresholds must be 2 or more; got {}", options.num_thresholds);
  }
  std::vector<double> out;
  for (std::int64_t i = 1; i < options.num_thresholds - 1; ++i) {
    out.push_back(static_cast<double>(i) / static_cast<double>(options.num_thresholds - 1));
  }
  return out;
}

/// With a threshold below 0 and one above 1, so that all and no predictions are positive there.
std::vector<double> with_ends(std::vector<double> thresholds) {
  thresholds.insert(thresholds.begin(), -epsilon);
  thresholds.push_back(1 + epsilon);
  return thresholds;
}

/// True if the thresholds between the ends are evenly spaced, as Keras tests it.
bool evenly_spaced(const std::vector<double>& inside) {
  const std::size_t n = inside.size() + 2;
  if (n < 3) return false;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const double expected = static_cast<double>(i + 1) / static_cast<double>(n - 1);
    if (std::abs(inside[i] - expected) > epsilon + 1e-5 * expected) return false;  // NumPy's allclose
  }
  return true;
}

/// num_labels, checked before the state is made for it.
std::int64_t labels_of(const AUCOptions& options) {
  const std::int64_t count = options.num_labels;
  const auto weights = static_cast<std::int64_t>(options.label_weights.size());
  if (count < 0) fail<ValueError>("", "[AUC] num_labels must be 0 or more; got {}", count);
  if (count > 0 && !options.multi_label) {
    fail<ValueError>("", "[AUC] num_labels needs multi_label; got {} without it", count);
  }
  if (count > 0 && weights > 0 && weights != count) {
    fail<ValueError>("", "[AUC] label_weights must be {} (num_labels); got {}", count, weights);
  }
  return count;
}

}  // namespace

AUC::AUC(AUCOptions options)
    : ThresholdMetric(options.name, {.thresholds = with_ends(inner(options)),
                                     .evenly = evenly_spaced(inner(options)),
                                     .from_logits = options.from_logits,
                                     .multi_label = options.multi_label,
                                     .num_labels = labels_of(options),
                                     .label_weights = options.label_weights}),
      options_(std::move(options)) {
  keep_options(options_);
  require_name(options_.curve, {"ROC", "roc", "PR", "pr", "PRGAIN", "prgain"}, "curve");
  require_name(options_.summation_method, {"interpolation", "minoring", "majoring"}, "summation_method");
}

double AUC::area(const Counts& c) const {
  const bool roc = options_.curve == "ROC" || options_.curve == "roc";
  const bool pr = options_.curve == "PR" || options_.curve == "pr";
  const bool interpolates = options_.summation_method == "interpolation";
  const std::size_t n = c.tp.size();
  double sum = 0;
  if (pr && interpolates) {
    // Between two points precision is interpolated by counts (Davis and Goadrich, 2006).
    for (std::size_t i = 0; i + 1 < n; ++i) {
      const double p = c.tp[i] + c.fp[i], next = c.tp[i + 1] + c.fp[i + 1];
      const double step = c.tp[i] - c.tp[i + 1];
      const double slope = ratio(step, std::max(p - next, 0.0));
      const double intercept = c.tp[i + 1] - slope * next;
      const double quotient = p > 0 && next > 0 ? p / next : 1;
      sum += ratio(slope * (step + intercept * std::log(quotient)), std::max(c.tp[i + 1] + c.fn[i + 1], 0.0));
    }
    return sum;
  }
  std::vector<double> x(n), y(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double recall = ratio(c.tp[i], c.tp[i] + c.fn[i]);
    if (roc) {
      x[i] = ratio(c.fp[i], c.fp[i] + c.tn[i]);
      y[i] = recall;
    } else if (pr) {
      x[i] = recall;
      y[i] = ratio(c.tp[i], c.tp[i] + c.fp[i]);
    } else {
      const double scale = ratio(c.tp[i] + c.fn[i], c.tn[i] + c.fp[i]);
      x[i] = c.tp[i] == 0 ? 0 : std::max(1 - scale * ratio(c.fn[i], c.tp[i]), 0.0);
      y[i] = c.tp[i] == 0 ? 1 : 1 - scale * ratio(c.fp[i], c.tp[i]);
    }
  }
  for (std::size_t i = 0; i + 1 < n; ++i) {
    double height = (y[i] + y[i + 1]) / 2;
    if (options_.summation_method == "minoring") height = std::min(y[i], y[i + 1]);
    if (options_.summation_method == "majoring") height = std::max(y[i], y[i + 1]);
    sum += (x[i] - x[i + 1]) * height;
  }
  return sum;
}

Value AUC::result() const {
  const std::vector<double>& weights = options_.label_weights;
  double total = 0, weight = 0;
  for (std::int64_t label = 0; label < labels(); ++label) {
    const bool weighted = options_.multi_label && !weights.empty();
    if (weighted && static_cast<std::int64_t>(weights.size()) != labels()) {
      fail<ShapeError>("", "[{}] label_weights must be {}; got {}", name(), labels(), weights.size());
    }
    const double factor = weighted ? weights[static_cast<std::size_t>(label)] : 1;
    total += factor * area(counts(label));
    weight += factor;
  }
  return Tensor::scalar(ratio(total, weight), DType::float64);
}

}  // namespace mezzo::metrics
