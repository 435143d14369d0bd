#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <mezzo/core/tensor.hpp>
#include <mezzo/distributed/communicator.hpp>
#include <mezzo/distributed/transfer.hpp>
#include <mezzo/training/module/module.hpp>
#include <mezzo/training/ranks/gradient_feedback.hpp>
#include <mezzo/training/ranks/rank_shards.hpp>
#include <mezzo/training/step/rank_masters.hpp>

namespace mezzo::detail {

/// Optimizer states of a fit of several ranks, which divide them: accumulated gradients are those of the rank's
/// samples, and under shards a rank has the other states and the masters of the weights that it updates alone. All
/// ranks make the same calls, except those of saves.
class RankStates {
 public:
  RankStates(std::shared_ptr<Communicator> communicator, Module& module, bool shards, bool compresses);

  /// Null unless the optimizer states are divided.
  const std::shared_ptr<RankShards>& shards() const { return shards_; }

  /// Null unless gradients are sent in bfloat16.
  const std::shared_ptr<GradientFeedback>& feedback() const { return feedback_; }

  /// Divides the masters of weights that these steps read in bfloat16 alone. See RankMasters::split().
  void split_masters(const PipelineOptions& passes, const std::function<std::vector<Graph>()>& steps) {
    if (masters_) masters_->split(module_, passes, steps);
  }

  /// True for a weight with a divided master.
  bool divides(const VariableState& weight) const { return masters_ && masters_->divides(weight); }

  /// A ValueError for a step that reads the master of another rank.
  void require_readable(const Graph& step) const {
    if (masters_) masters_->require_readable(step);
  }

  /// Drops what belongs to other ranks, at the start of the fit and after a resume.
  void divide(const OptimizerConfigs& optimizers);

  /// Makes the states whole at all ranks, at the end of the fit.
  void join(const OptimizerConfigs& optimizers);

  /// False if the states are whole between two steps.
  bool divided(const OptimizerConfigs& optimizers) const;

  /// Copies weights from the ranks that have updated them; of divided masters the bfloat16 halves.
  Transfer gather(const RankShards::Variables& weights) const;

  /// Runs `call`, which may save at rank 0; the others help it before their calls.
  template <class Call>
  void while_saving(const OptimizerConfigs& optimizers, const Call& call) {
    const bool first = communicator_->rank() == 0;
    if (!first) help(optimizers);
    saves_ = first;
    call();
    saves_ = false;
    if (first) tell(Help::none);
  }

  /// Makes the states whole at rank 0, inside of while_saving(): a ValueError elsewhere. end_save() divides them again.
  void begin_save(const OptimizerConfigs& optimizers);
  void end_save(const OptimizerConfigs& optimizers);

  /// Makes the weights whole: at rank 0 inside of while_saving(), elsewhere at all ranks. end_reading() divides them
  /// again.
  void begin_reading();
  void end_reading();

 private:
  struct Part;
  /// Kinds of help that rank 0 requests from the others during a save.
  enum class Help : std::int32_t { none, states, weights };
  void help(const OptimizerConfigs& optimizers);
  Help tell(Help needed) const;
  void make_whole(const OptimizerConfigs& optimizers, bool at_all);
  void add_up(const OptimizerConfigs& optimizers, bool at_all);
  void collect(const OptimizerConfigs& optimizers, bool at_all) const;
  std::vector<Part> own_parts(const OptimizerConfigs& optimizers) const;
  void drop_others(const OptimizerConfigs& optimizers) const;

  std::shared_ptr<Communicator> communicator_;
  Module& module_;
  std::shared_ptr<RankShards> shards_;
  std::optional<RankMasters> masters_{};  // of shards
  std::shared_ptr<GradientFeedback> feedback_;
  bool saves_ = false;
  int readers_ = 0;                                                          // begin_reading() without end_reading()
  std::vector<std::pair<std::shared_ptr<VariableState>, Tensor>> own_sums_;  // during a save, of this rank's samples
};

}  // namespace mezzo::detail
