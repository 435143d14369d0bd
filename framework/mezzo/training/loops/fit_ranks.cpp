#include <mezzo/training/loops/fit_ranks.hpp>

#include <algorithm>
#include <array>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/training/loops/evaluation_loop.hpp>
#include <mezzo/training/loops/signals.hpp>
#include <mezzo/training/module/interrupted.hpp>
#include <mezzo/training/ranks/compare_ranks.hpp>

namespace mezzo::detail {
namespace {

void add_module(RankFacts& facts, const StepRunner& runner) {
  facts.push_back(rank_fact("seed", seed()));
  facts.push_back(rank_fact("policy", fmt::format("\"{}\"", runner.base_policy().name())));
  for (const auto& [path, weight] : runner.module().named_weights()) {
    facts.push_back(fmt::format("weight \"{}\" {} {}{}", path, weight.value().dtype(), weight.shape(),
                                weight.trainable() ? "" : ", not trainable"));
  }
}

void add_loader(RankFacts& facts, const std::string& name, const DataLoader& loader, std::int64_t batches) {
  const LoaderFingerprint data = loader.fingerprint();
  facts.push_back(fmt::format("{}: {} batches of {} samples for all ranks, {} samples, drop_last {}, fields {}, {}",
                              name, batches, data.batch_size, data.samples, data.drop_last, data.fields, data.order));
}

void add_optimizers(RankFacts& facts, const StepRunner& runner) {
  for (const OptimizerConfig& config : runner.optimizers()) {
    const Optimizer& optimizer = *config.optimizer;
    facts.push_back(
        fmt::format("optimizer \"{}\" {}, {} updates", config.name, optimizer.name(), optimizer.iterations()));
    const OptimizerCommon& common = optimizer.common();
    const auto add = [&](const char* option, const auto& value) {
      facts.push_back(rank_fact(fmt::format("optimizer \"{}\" {}", config.name, option), value));
    };
    add("learning_rate", optimizer.learning_rate());
    add("weight_decay", common.weight_decay);
    add("clipnorm", common.clipnorm);
    add("clipvalue", common.clipvalue);
    add("global_clipnorm", common.global_clipnorm);
    add("use_ema", common.use_ema);
    add("ema_momentum", common.ema_momentum);
    add("ema_overwrite_frequency", common.ema_overwrite_frequency);
    add("gradient_accumulation_steps", common.gradient_accumulation_steps);
    add("split_master_weights", common.split_master_weights);
    add("stochastic_rounding", common.stochastic_rounding);
    add("kahan_summation", common.kahan_summation);
    add("state_dtype", common.state_dtype);
    add("number of groups", common.groups.size());
  }
}

void broadcast_weights(Communicator& ranks, const Module& module) {
  for (const Variable& weight : module.weights()) {
    VariableState& state = *weight.state();
    Tensor numbers = state.numbers().copy();
    ranks.broadcast({numbers.mutable_raw(), numbers.size(), numbers.dtype()});
    if (ranks.rank() != 0) state.assign(numbers);
  }
}

/// The step of a loader's first batch; an empty graph if there is none.
Graph rehearse_first(StepRunner& runner, Stage stage, const DataLoader& loader) {
  BatchStream stream = loader.stream({}, 1);
  const HostBatch* const batch = stream.peek();
  return batch == nullptr ? Graph() : runner.rehearse(stage, *batch);
}

/// Traced training and validation steps.
std::vector<Graph> rehearsed(const Fit& fit) {
  std::vector<Graph> out{rehearse_first(fit.runner, Stage::fit, fit.train)};
  for (std::size_t i = 0; i < fit.validation.size(); ++i) {
    const LoaderScope scope(fit.session, fit.runner, i);
    if (fit.limits.validations[i] > 0) out.push_back(rehearse_first(fit.runner, Stage::validate, fit.validation[i]));
  }
  return out;
}

}  // namespace

void start_ranks(const Fit& fit) {
  Communicator* const ranks = fit.runner.communicator();
  if (ranks == nullptr) return;
  RankFacts facts;
  add_module(facts, fit.runner);
  add_optimizers(facts, fit.runner);
  facts.push_back(
      fmt::format("step {}, epoch {}, batch {} of it", fit.state.step, fit.state.fit_epoch, fit.state.batch));
  facts.push_back(rank_fact("ckpt_by_samples", fit.settings.by_samples));
  add_loader(facts, "training data", fit.train, fit.limits.epoch);
  for (std::size_t i = 0; i < fit.validation.size(); ++i) {
    add_loader(facts, fmt::format("validation data {}", i), fit.validation[i], fit.limits.validations[i]);
  }
  const RunOptions& run = fit.runner.options();
  const bool shards = run.shard_optimizer_states;
  compare_ranks(*ranks, facts);
  broadcast_weights(*ranks, fit.runner.module());
  for (const OptimizerConfig& config : fit.runner.optimizers()) {
    if (!shards || !config.optimizer->common().use_ema) continue;
    fail<ValueError>("[Trainer]",
                     "shard_optimizer_states needs optimizers without use_ema, for which there is EMAWeightAveraging; "
                     "got a {} with use_ema",
                     config.optimizer->name());
  }
  fit.state.rank_states =
      std::make_shared<RankStates>(run.communicator, fit.runner.module(), shards, run.compress_gradients);
  if (shards) {
    fit.runner.convert_weights();
    fit.state.rank_states->split_masters(run.passes, [&] { return rehearsed(fit); });
  }
  fit.state.rank_states->divide(fit.state.optimizers);
}

void end_ranks(TrainingState& state) {
  if (!state.rank_states) return;
  state.rank_states->join(state.optimizers);
  state.rank_states.reset();
  state.plans.clear();  // their plans are those of a part of the weights
}

void start_ranks(StepRunner& runner, Stage stage, const DataLoaders& loaders, const std::vector<std::int64_t>& steps) {
  Communicator* const ranks = runner.communicator();
  if (ranks == nullptr) return;
  RankFacts facts;
  for (std::size_t i = 0; i < loaders.size(); ++i) {
    add_loader(facts, fmt::format("data {}", i), loaders[i], steps[i]);
    if (steps[i] > 0) rehearse_first(runner, stage, loaders[i]);
  }
  add_module(facts, runner);
  compare_ranks(*ranks, facts);
  broadcast_weights(*ranks, runner.module());
}

void agree(Fit& fit) {
  Communicator* const ranks = fit.runner.communicator();
  if (ranks == nullptr) return;
  fit.session.count_time();
  const TrainingState& state = fit.state;
  constexpr std::size_t count = 6;
  const std::array<double, count> own{static_cast<double>(state.step),
                                      static_cast<double>(state.epoch),
                                      static_cast<double>(state.batch),
                                      fit.session.stopping() ? 1.0 : 0.0,
                                      static_cast<double>(SignalScope::pending()),
                                      state.seconds};
  std::vector<double> all(count * static_cast<std::size_t>(ranks->size()));
  std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(count) * ranks->rank());
  ranks->all_reduce({all.data(), static_cast<std::int64_t>(all.size()), DType::float64});
  const auto of = [&](int rank) { return all.data() + count * static_cast<std::size_t>(rank); };
  int signal = 0;
  for (int rank = 0; rank < ranks->size(); ++rank) {
    if (!std::equal(of(rank), of(rank) + 3, of(0))) {
      fail<RankError>(
          "[Trainer]",
          "all ranks must run the same steps; rank {} is at step {}, epoch {}, batch {}; rank 0 at step {}, "
          "epoch {}, batch {}",
          rank, of(rank)[0], of(rank)[1], of(rank)[2], of(0)[0], of(0)[1], of(0)[2]);
    }
    if (of(rank)[3] != 0) fit.session.stop();
    if (signal == 0) signal = static_cast<int>(of(rank)[4]);
  }
  fit.rank_seconds = of(0)[5];
  if (signal != 0 && fit.settings.interruptible) throw Interrupted(signal);
}

bool agree_to_stop(const StepRunner& runner, bool stops) {
  if (runner.communicator() == nullptr) return stops;
  std::int32_t all = stops ? 1 : 0;
  runner.communicator()->all_reduce({&all, 1, DType::int32}, ReduceOp::max);
  return all != 0;
}

}  // namespace mezzo::detail
