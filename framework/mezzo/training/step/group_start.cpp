#include <mezzo/training/step/group_start.hpp>

#include <memory>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>

namespace mezzo::detail {
namespace {

void add_module(SharedFacts& facts, const StepRunner& runner) {
  facts.push_back(shared_fact("seed", seed()));
  facts.push_back(shared_fact("policy", fmt::format("\"{}\"", runner.base_policy().name())));
  for (const auto& [path, weight] : runner.module().named_weights()) {
    facts.push_back(fmt::format("weight \"{}\" {} {}{}", path, weight.value().dtype(), weight.shape(),
                                weight.trainable() ? "" : ", not trainable"));
  }
}

void add_optimizers(SharedFacts& facts, const StepRunner& runner) {
  for (const OptimizerConfig& config : runner.optimizers()) {
    const Optimizer& optimizer = *config.optimizer;
    facts.push_back(
        fmt::format("optimizer \"{}\" {}, {} updates", config.name, optimizer.name(), optimizer.iterations()));
    const OptimizerCommon& common = optimizer.common();
    const auto add = [&](const char* option, const auto& value) {
      facts.push_back(shared_fact(fmt::format("optimizer \"{}\" {}", config.name, option), value));
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

}  // namespace

void add_data(SharedFacts& facts, const std::string& name, const DataLoader& loader, std::int64_t batches) {
  const LoaderFingerprint data = loader.fingerprint();
  facts.push_back(fmt::format("{}: {} batches of {} samples for all ranks, {} samples, drop_last {}, fields {}, {}",
                              name, batches, data.batch_size, data.samples, data.drop_last, data.fields, data.order));
}

Graph rehearse_first(StepRunner& runner, Stage stage, const DataLoader& loader) {
  BatchStream stream = loader.stream({}, 1);
  const HostBatch* const batch = stream.peek();
  return batch == nullptr ? Graph() : runner.rehearse(stage, *batch);
}

void start_fit(StepRunner& runner, const SharedFacts& facts, const std::function<std::vector<Graph>()>& steps) {
  const RunOptions& run = runner.options();
  if (!run.group.shared()) return;
  const Progress& progress = runner.state();
  SharedFacts all;
  add_module(all, runner);
  add_optimizers(all, runner);
  all.push_back(fmt::format("step {}, epoch {}, batch {} of it", progress.step, progress.fit_epoch, progress.batch));
  all.insert(all.end(), facts.begin(), facts.end());
  run.group.require_equal(all);
  broadcast_weights(*run.group.communicator(), runner.module());
  const bool shards = run.shard_optimizer_states;
  for (const OptimizerConfig& config : runner.optimizers()) {
    if (!shards || !config.optimizer->common().use_ema) continue;
    fail<ValueError>("[Trainer]",
                     "shard_optimizer_states needs optimizers without use_ema, for which there is EMAWeightAveraging; "
                     "got a {} with use_ema",
                     config.optimizer->name());
  }
  RunningFit& running = runner.state();
  running.shared_states =
      std::make_shared<RankStates>(run.group.communicator(), runner.module(), shards, run.compress_gradients);
  if (shards) {
    runner.convert_weights();
    running.shared_states->split_masters(run.passes, steps);
  }
  running.shared_states->divide(runner.optimizers());
}

void end_fit(StepRunner& runner) {
  RunningFit& running = runner.state();
  if (!running.shared_states) return;
  running.shared_states->join(runner.optimizers());
  running.shared_states.reset();
  runner.state().plans.clear();  // their plans are those of a part of the weights
}

void start_evaluation(StepRunner& runner, Stage stage, const DataLoaders& loaders,
                      const std::vector<std::int64_t>& steps) {
  if (!runner.group().shared()) return;
  SharedFacts facts;
  for (std::size_t i = 0; i < loaders.size(); ++i) {
    add_data(facts, fmt::format("data {}", i), loaders[i], steps[i]);
    if (steps[i] > 0) rehearse_first(runner, stage, loaders[i]);
  }
  add_module(facts, runner);
  runner.group().require_equal(facts);
  broadcast_weights(*runner.group().communicator(), runner.module());
}

}  // namespace mezzo::detail
