#include <mezzo/training/callbacks/weight_averaging.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/loops/texts.hpp>

namespace mezzo {
namespace {

const char* const averaging_label = "[WeightAveraging]";

}  // namespace

bool WeightAveraging::should_update(std::optional<std::int64_t> step_idx, std::optional<int>) const {
  return step_idx.has_value();
}

void WeightAveraging::on_train_begin(Logs&) {
  average_.clear();
  latest_update_step_ = 0;
  swapped_ = false;
}

void WeightAveraging::on_train_batch_end(std::int64_t, Logs&) {
  const std::int64_t step = session().global_step();
  if (step <= latest_update_step_ || !should_update(step - 1, {})) return;
  update();
  latest_update_step_ = step;
}

void WeightAveraging::on_epoch_end(int epoch, Logs&) {
  if (should_update({}, epoch)) update();
}

void WeightAveraging::update() {
  session().read_weights([&] { average_.update(module(), options_.use_buffers, options_.avg_fn); });
}

void WeightAveraging::on_train_end(Logs&) { average_.assign_to(module()); }

void WeightAveraging::on_test_begin(Logs&) {
  if (session().stage() != Stage::fit || session().sanity_checking() || average_.count() == 0) return;
  // The optimizer has the weights meanwhile, where checkpoints look for them.
  auto& kept = session().optimizers().front().optimizer->state()->swapped;
  if (!kept.empty()) fail<ValueError>(averaging_label, "no other callback may replace the weights; got one that did");
  session().read_weights([&] {
    for (const Variable& weight : module().weights()) kept.emplace_back(weight.state(), weight.value());
    average_.assign_to(module());
  });
  swapped_ = true;
}

void WeightAveraging::give_back() {
  if (!swapped_) return;
  auto& kept = session().optimizers().front().optimizer->state()->swapped;
  for (const auto& [weight, numbers] : kept) weight->assign(numbers);
  kept.clear();
  swapped_ = false;
}

void WeightAveraging::on_test_end(Logs&) { give_back(); }

void WeightAveraging::on_exception(const std::exception&) { give_back(); }

CallbackState WeightAveraging::state() const {
  CallbackState state;
  state.numbers = {{"latest_update_step", static_cast<double>(latest_update_step_)}};
  average_.write(state);
  return state;
}

void WeightAveraging::set_state(const CallbackState& state) {
  average_.read(state, module(), averaging_label);
  latest_update_step_ = detail::count_in(state, "latest_update_step");
}

EMAWeightAveraging::EMAWeightAveraging(const EMAWeightAveragingOptions& options)
    : WeightAveraging(
          {.use_buffers = options.use_buffers,
           .avg_fn = [decay = options.decay](double average, double weight,
                                             std::int64_t) { return decay * average + (1 - decay) * weight; }}),
      options_(options) {
  if (!(options.decay >= 0 && options.decay <= 1)) {
    fail<ValueError>("[EMAWeightAveraging]", "decay must be in [0, 1]; got {}", options.decay);
  }
  if (options.update_every_n_steps < 0) {
    fail<ValueError>("[EMAWeightAveraging]", "update_every_n_steps must be 0 or more; got {}",
                     options.update_every_n_steps);
  }
}

bool EMAWeightAveraging::should_update(std::optional<std::int64_t> step_idx, std::optional<int> epoch_idx) const {
  if (step_idx) {
    return *step_idx >= options_.update_starting_at_step.value_or(0) && options_.update_every_n_steps > 0 &&
           *step_idx % options_.update_every_n_steps == 0;
  }
  return epoch_idx && options_.update_starting_at_epoch && *epoch_idx >= *options_.update_starting_at_epoch;
}

}  // namespace mezzo
