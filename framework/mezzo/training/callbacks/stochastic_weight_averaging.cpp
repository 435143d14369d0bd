#include <mezzo/training/callbacks/stochastic_weight_averaging.hpp>

#include <algorithm>
#include <any>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/normalization/batch_normalization.hpp>
#include <mezzo/training/loops/texts.hpp>

namespace mezzo {
namespace {

const char* const swa_label = "[StochasticWeightAveraging]";

/// A moving statistic, and the sum of the statistics of batches.
struct Statistic {
  Variable variable;
  double momentum;
  std::vector<double> sum{};
};

void add_statistics(const detail::LayerState& layer, std::vector<Statistic>& out) {
  const auto* const options = std::any_cast<BatchNormalizationOptions>(&layer.options);
  if (options != nullptr && options->momentum < 1) {
    for (const Variable& weight : layer.weights) {
      if (!weight.trainable() && layer.trainable) out.push_back({weight, options->momentum});
    }
  }
  for (const auto& child : layer.children) add_statistics(*child.second, out);
}

}  // namespace

StochasticWeightAveraging::StochasticWeightAveraging(StochasticWeightAveragingOptions options)
    : options_(std::move(options)) {
  if (!(options_.swa_lrs > 0)) fail<ValueError>(swa_label, "swa_lrs must be above 0; got {}", options_.swa_lrs);
  const auto* const epoch = std::get_if<int>(&options_.swa_epoch_start);
  const double start = epoch != nullptr ? *epoch : std::get<double>(options_.swa_epoch_start);
  if (epoch != nullptr ? start < 1 : !(start >= 0 && start <= 1)) {
    fail<ValueError>(swa_label, "swa_epoch_start must be an epoch from 1 or a share in [0, 1]; got {}", start);
  }
  if (options_.annealing_epochs < 0) {
    fail<ValueError>(swa_label, "annealing_epochs must be 0 or more; got {}", options_.annealing_epochs);
  }
  if (options_.annealing_strategy != "cos" && options_.annealing_strategy != "linear") {
    fail_unknown(swa_label, "annealing_strategy", options_.annealing_strategy, {"cos", "linear"});
  }
}

void StochasticWeightAveraging::on_train_begin(Logs&) {
  average_.clear();
  last_epoch_ = -1;
  first_rate_ = session().learning_rate();
  session().set_learning_rate(first_rate_);  // throws for a Schedule before the first epoch
  const auto* const epoch = std::get_if<int>(&options_.swa_epoch_start);
  if (epoch == nullptr && session().epochs() < 0) {
    fail<ValueError>(swa_label, "swa_epoch_start must be an epoch if the training has no last one; got a share");
  }
  const int first =
      epoch != nullptr ? *epoch : static_cast<int>(session().epochs() * std::get<double>(options_.swa_epoch_start));
  start_ = std::max(first - 1, 0);
}

double StochasticWeightAveraging::rate_after(int epochs) const {
  const double share = std::min(1.0, static_cast<double>(epochs) / std::max(1, options_.annealing_epochs));
  const double done = options_.annealing_epochs == 0         ? 1
                      : options_.annealing_strategy == "cos" ? (1 - std::cos(std::acos(-1.0) * share)) / 2
                                                             : share;
  return options_.swa_lrs * done + first_rate_ * (1 - done);
}

void StochasticWeightAveraging::on_epoch_begin(int epoch, Logs&) {
  if (epoch < start_ || epoch <= last_epoch_) return;
  if (last_epoch_ < 0) first_rate_ = session().learning_rate();
  session().set_learning_rate(rate_after(epoch - start_));
  session().read_weights([&] { average_.update(module(), false, options_.avg_fn); });
  last_epoch_ = epoch;
}

void StochasticWeightAveraging::on_train_end(Logs&) {
  const bool whole = session().epochs() < 0 || last_epoch_ + 1 >= session().epochs();
  if (average_.count() == 0 || !whole) return;
  average_.assign_to(module());
  renew_statistics();
}

void StochasticWeightAveraging::renew_statistics() {
  std::vector<Statistic> statistics;
  add_statistics(*module().state(), statistics);
  if (statistics.empty()) return;
  std::int64_t batches = 0;
  // A step from statistics of 0 leaves (1 - momentum) times those of its batch.
  session().try_steps(
      session().steps(),
      [&](std::int64_t) {
        average_.assign_to(module());
        for (const Statistic& one : statistics) one.variable.assign(Tensor(one.variable.shape()));
      },
      [&](std::int64_t, double) {
        ++batches;
        for (Statistic& one : statistics) {
          const std::vector<double> numbers = one.variable.value().to_doubles();
          one.sum.resize(numbers.size());
          for (std::size_t i = 0; i < numbers.size(); ++i) one.sum[i] += numbers[i] / (1 - one.momentum);
        }
        return true;
      });
  for (Statistic& one : statistics) {
    for (double& number : one.sum) number /= static_cast<double>(batches);
    one.variable.assign(Tensor(one.variable.shape(), one.sum));
  }
}

CallbackState StochasticWeightAveraging::state() const {
  CallbackState state;
  state.numbers = {{"last_epoch", last_epoch_ + 1}, {"first_rate", first_rate_}};
  average_.write(state);
  return state;
}

void StochasticWeightAveraging::set_state(const CallbackState& state) {
  last_epoch_ = detail::count_in(state, "last_epoch") - 1;
  first_rate_ = detail::number_in(state, "first_rate").value_or(first_rate_);
  average_.read(state, module(), swa_label);
}

}  // namespace mezzo
