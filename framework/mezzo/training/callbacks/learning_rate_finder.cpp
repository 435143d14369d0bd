#include <mezzo/training/callbacks/learning_rate_finder.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/training/callbacks/monitor.hpp>

namespace mezzo {
namespace {

const char* const finder_label = "[LearningRateFinder]";
constexpr double loss_smoothing = 0.98;  // weight of the old mean of losses

/// Slope of y over x at a point: of first order at the ends, else of second order.
double slope_at(const std::vector<double>& x, const std::vector<double>& y, std::size_t i) {
  const std::size_t last = x.size() - 1;
  if (i == 0 || i == last) {
    const std::size_t low = i == 0 ? 0 : last - 1;
    return (y[low + 1] - y[low]) / (x[low + 1] - x[low]);
  }
  const double before = x[i] - x[i - 1], after = x[i + 1] - x[i];
  return -after / (before * (before + after)) * y[i - 1] + (after - before) / (before * after) * y[i] +
         before / (after * (before + after)) * y[i + 1];
}

}  // namespace

LearningRateFinder::LearningRateFinder(LearningRateFinderOptions options) : options_(std::move(options)) {
  if (options_.mode != "exponential" && options_.mode != "linear") {
    fail_unknown(finder_label, "mode", options_.mode, {"exponential", "linear"});
  }
  if (!(options_.min_lr > 0 && options_.max_lr > options_.min_lr && std::isfinite(options_.max_lr))) {
    fail<ValueError>(finder_label, "min_lr must be above 0 and below max_lr; got {} and {}", options_.min_lr,
                     options_.max_lr);
  }
  if (options_.num_training_steps < 2) {
    fail<ValueError>(finder_label, "num_training_steps must be at least 2; got {}", options_.num_training_steps);
  }
  if (options_.early_stop_threshold && !(*options_.early_stop_threshold > 0)) {
    fail<ValueError>(finder_label, "early_stop_threshold must be above 0; got {}", *options_.early_stop_threshold);
  }
}

double LearningRateFinder::rate_of(std::int64_t step) const {
  if (step == 0) return options_.min_lr;
  const double share = static_cast<double>(step + 1) / options_.num_training_steps;
  return options_.mode == "linear" ? options_.min_lr + share * (options_.max_lr - options_.min_lr)
                                   : options_.min_lr * std::pow(options_.max_lr / options_.min_lr, share);
}

void LearningRateFinder::lr_find() {
  lrs_.clear();
  losses_.clear();
  session().learning_rate();  // an error unless there is one optimizer
  double mean = 0;
  std::optional<double> least;
  session().try_steps(
      options_.num_training_steps,
      [&](std::int64_t step) {
        session().set_learning_rate(rate_of(step));
        lrs_.push_back(rate_of(step));
      },
      [&](std::int64_t step, double loss) {
        if (!std::isfinite(loss)) {  // left out
          losses_.push_back(loss);
          return true;
        }
        mean = loss_smoothing * mean + (1 - loss_smoothing) * loss;
        const double smooth = mean / (1 - std::pow(loss_smoothing, static_cast<double>(step + 2)));
        const auto& threshold = options_.early_stop_threshold;
        const bool diverges = threshold && least && smooth > *threshold * *least;
        if (detail::beats(smooth, least, false)) least = smooth;
        losses_.push_back(smooth);
        return !diverges;
      });
  if (!options_.update_attr) return;
  if (const auto rate = suggestion()) {
    session().set_learning_rate(*rate);
  } else {
    detail::warn(fmt::format("{} no learning rate is suggested: more than 12 steps must have a finite loss; got {}",
                             finder_label, losses_.size()));
  }
}

std::optional<double> LearningRateFinder::suggestion(int skip_begin, int skip_end) const {
  if (skip_begin < 0 || skip_end < 0) {
    fail<ValueError>(finder_label, "skip_begin and skip_end must be 0 or more; got {} and {}", skip_begin, skip_end);
  }
  std::vector<double> x, y;
  for (std::size_t i = static_cast<std::size_t>(skip_begin); i + static_cast<std::size_t>(skip_end) < losses_.size();
       ++i) {
    if (!std::isfinite(losses_[i])) continue;
    x.push_back(lrs_[i]);
    y.push_back(losses_[i]);
  }
  if (x.size() < 2) return {};
  std::vector<double> slopes;
  for (std::size_t i = 0; i < x.size(); ++i) slopes.push_back(slope_at(x, y, i));
  return x[static_cast<std::size_t>(std::min_element(slopes.begin(), slopes.end()) - slopes.begin())];
}

}  // namespace mezzo
