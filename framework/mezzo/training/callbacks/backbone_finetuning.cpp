#include <mezzo/training/callbacks/backbone_finetuning.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/training/loggers/log_text.hpp>

namespace mezzo {
namespace {

const char* const backbone_label = "[BackboneFinetuning]";

std::string rounded(double rate, int decimals) {
  const double unit = std::pow(10.0, decimals);
  return detail::python_text(std::round(rate * unit) / unit);
}

}  // namespace

BackboneFinetuning::BackboneFinetuning(BackboneFinetuningOptions options) : options_(std::move(options)) {
  const auto require = [](bool good, const char* option, const char* range, double value) {
    if (!good) fail<ValueError>(backbone_label, "{} must be {}; got {}", option, range, value);
  };
  require(options_.unfreeze_backbone_at_epoch >= 0, "unfreeze_backbone_at_epoch", "0 or more",
          options_.unfreeze_backbone_at_epoch);
  require(options_.backbone_initial_ratio_lr > 0, "backbone_initial_ratio_lr", "above 0",
          options_.backbone_initial_ratio_lr);
  const double initial = options_.backbone_initial_lr.value_or(1);
  require(initial > 0 && std::isfinite(initial), "backbone_initial_lr", "above 0", initial);
  require(options_.rounding >= 0, "rounding", "0 or more", options_.rounding);
  if (!options_.lambda_func) options_.lambda_func = [](int) { return 2.0; };
}

void BackboneFinetuning::freeze_before_training() { freeze(options_.backbone, options_.train_bn); }

void BackboneFinetuning::finetune_function(int epoch, const std::string& optimizer) {
  if (session().optimizers().size() != 1) {
    fail<ValueError>(backbone_label, "the module must have one optimizer; got {}", session().optimizers().size());
  }
  if (epoch < options_.unfreeze_backbone_at_epoch) return;
  const double current = session().learning_rate();
  double rate = 0;
  if (session().param_groups().empty()) {  // also if a resumed training is past that epoch
    rate = options_.backbone_initial_lr.value_or(current * options_.backbone_initial_ratio_lr);
    unfreeze_and_add_param_group(options_.backbone,
                                 {.optimizer = optimizer, .learning_rate = rate, .train_bn = options_.train_bn});
  } else {
    const std::size_t last = session().param_groups().size() - 1;
    rate = options_.lambda_func(epoch + 1) * session().param_groups()[last].learning_rate;
    if (options_.should_align) rate = std::min(rate, current);
    session().set_param_group_learning_rate(last, rate);
  }
  if (!options_.verbose) return;
  detail::write_line(fmt::format("{} learning rates: module {}, backbone {}", backbone_label,
                                 rounded(current, options_.rounding), rounded(rate, options_.rounding)));
}

}  // namespace mezzo
