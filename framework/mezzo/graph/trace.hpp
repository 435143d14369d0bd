#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/graph/node.hpp>
#include <mezzo/graph/runtime_scalar.hpp>

namespace mezzo {

/// Result of a trace. Each node comes after its inputs.
struct Graph {
  struct Output {
    std::string name;
    Value value;
  };
  struct Update {
    std::shared_ptr<detail::VariableState> variable;
    Value value;
    int group = -1;  ///< group of gates that can prevent the update; -1: all gates
  };
  /// Reaction of a run to a gate whose `ok` is false.
  enum class OnFailure {
    skip_update,  ///< the run continues; updates that the gate guards are not committed (loss scaling)
    error,        ///< the run throws a ValueError; no update is committed
    leave_out     ///< not a failure but a condition: only the updates of the gate's group are not committed
  };
  /// Updates of its group, and unless it is a condition those without a group, are committed only if `ok` is true. The
  /// first gate is the loss's.
  struct Gate {
    Value ok;  ///< bool, shape ()
    int group = -1;
    OnFailure on_failure = OnFailure::skip_update;
    std::string error{};  ///< start of the ValueError's text; of OnFailure::error
  };

  std::vector<detail::NodePtr> nodes;
  std::vector<Value> inputs;
  std::vector<Output> outputs;
  std::vector<Update> updates;
  std::vector<Gate> gates;
};

/// Runtime scalar of a leaf of runtime_op().
detail::RuntimeKey runtime_key(const detail::Node& node);

/// Records the ops of this thread in its graph for its lifetime. Hides the running layers until it ends.
class Trace {
 public:
  enum class Mode {
    graph,  ///< symbols only, to be compiled into a plan
    eager,  ///< each node is computed as it is inserted
    body    ///< symbols only, of one iteration of a loop; keeps the running layers. See capture()
  };
  explicit Trace(Mode mode, bool training = false);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Innermost trace of this thread, or null.
  static Trace* current();

  Mode mode() const { return mode_; }
  bool training() const { return training_; }
  Graph& graph() { return graph_; }

  /// Adds an input of the plan; the order of calls is the order of the plan's arguments. Eager traces need the numbers.
  Value input(const std::string& name, const Spec& spec);
  Value input(const std::string& name, const Tensor& numbers);

  /// A runtime scalar, float64 of shape (). Eager traces take its number from `runtime_value`, or else from
  /// `runtime_values`; 0 if it is missing.
  Value runtime(const detail::RuntimeKey& key);
  std::function<double(const detail::RuntimeKey&)> runtime_value;
  std::map<detail::RuntimeKey, double> runtime_values;

  void output(const std::string& name, const Value& value);
  void update(const std::shared_ptr<detail::VariableState>& variable, const Value& kept);
  int update_group = -1;  ///< group of the following updates
  /// Value to store in place of an update, if set: a function of the updated value and of the previous one.
  std::function<Value(const Value& updated, const Value& before)> update_guard;
  void gate(Graph::Gate gate);

  /// Current value of the variable: its last update in this trace, or a leaf. The halves of a split master are joined,
  /// the codes of a quantized weight are dequantized.
  Value read(const std::shared_ptr<detail::VariableState>& variable);

  /// Values of a variable with respect to which losses are differentiated: the results of its first read, and of the
  /// first read after each restart_reads().
  struct Reads {
    Values values;
    bool restarts = true;  ///< the next read adds a value
  };
  const Reads& reads(const std::shared_ptr<detail::VariableState>& variable) const;
  void restart_reads(const std::shared_ptr<detail::VariableState>& variable);

  /// True for a value of Reads.
  bool is_read(const Value& value) const;

  /// Current value of the variable's storage.
  Value stored(const std::shared_ptr<detail::VariableState>& variable);

  /// The same, in a body as an input from outside.
  Value read_stored(const std::shared_ptr<detail::VariableState>& variable);

  /// Appends a node and returns its outputs. Computes it in eager mode.
  Values append(detail::NodePtr node);

  /// Converts a value to one of this trace: reads variables, makes constants of arrays. Throws a ValueError for a
  /// symbol of another trace or of a functional graph.
  Value adopt(const Value& value);

  /// @name Bodies of loops
  /// A body reads values of the trace around it, variables and runtime scalars by inputs of its own. It can neither
  /// update variables nor add losses: a ValueError.
  /// @{

  /// Input of the body for a value from outside. Cotangents of it have the dtype `cotangent`, by default its own.
  Value capture(const Value& outside, std::optional<DType> cotangent = {});

  struct Captured {
    Value outside, inside;
  };
  const std::vector<Captured>& captured() const { return captured_; }

  /// Replaces `old` by `value` from now on: for functions that hold values of another trace of the same body.
  void replace(const Value& old, const Value& value) { replaced_[{old.node().get(), old.output()}] = value; }

  /// Operands "step" of random draws in the body, float64 of shape (): the first differs from iteration to iteration,
  /// the second is that of the trace around the body.
  struct DrawSteps {
    Value of_iteration, of_loop;
  };
  const DrawSteps& draw_steps() const { return draw_steps_; }
  void set_draw_steps(DrawSteps steps) { draw_steps_ = std::move(steps); }

  /// Number of loops around an op of this trace.
  int loops() const { return loops_; }

  /// True in a body outside of all steps, as in eager code.
  bool detached() const { return mode_ == Mode::body && (outer_ == nullptr || outer_->detached()); }
  /// @}

  /// Number of samples of the batch if the batch is a part of one that ranks share, else 0. In a body: that of the
  /// trace around it.
  std::int64_t samples_of_rank() const {
    return mode_ == Mode::body && outer_ != nullptr ? outer_->samples_of_rank() : samples_of_rank_;
  }
  void set_samples_of_rank(std::int64_t samples) { samples_of_rank_ = samples; }

  /// Statistics of a batch that ranks share.
  struct JoinedBatch {
    /// Mean of x over the samples of all ranks, differentiable. All ranks must call it in the same order. Empty: the
    /// batch is that of one rank.
    std::function<Value(const Value& x)> mean{};
    bool for_all_norms = false;  ///< true: all batch norms use it; false: those with the attribute "synchronized"
  };
  const JoinedBatch& joined_batch() const { return joined_batch_; }
  void set_joined_batch(JoinedBatch joined) { joined_batch_ = std::move(joined); }

  /// A loss that a layer added to the step's.
  struct AddedLoss {
    std::shared_ptr<const detail::ScopeInfo> layer;
    Value value;
  };
  void add_loss(std::shared_ptr<const detail::ScopeInfo> layer, const Value& value);
  const std::vector<AddedLoss>& losses() const { return losses_; }

  /// Number of earlier calls with the same path. Distinguishes several dropouts of one layer.
  std::int64_t count(const std::string& path);

 private:
  Value leaf(const Op& op, Attributes attributes, const Spec& spec);
  Value stored(const std::shared_ptr<detail::VariableState>& variable, const Shape& shape);

  Mode mode_;
  bool training_;
  std::uint64_t id_;
  Graph graph_;
  Trace* outer_;
  std::optional<detail::FreshScope> fresh_;
  std::map<const detail::VariableState*, Value> stored_, joined_, inside_;  // inside_: inputs of a body
  std::map<const detail::VariableState*, Value> stored_inside_;
  std::map<const detail::VariableState*, Reads> reads_;
  std::set<std::pair<const detail::Node*, int>> read_values_;
  std::map<detail::RuntimeKey, Value> runtimes_;
  std::map<std::string, std::int64_t> counts_;
  std::vector<AddedLoss> losses_;
  std::vector<Captured> captured_;
  std::map<std::pair<const detail::Node*, int>, Value> replaced_;
  DrawSteps draw_steps_;
  int loops_ = 0;
  std::int64_t samples_of_rank_ = 0;
  JoinedBatch joined_batch_;
};

/// Suspends the trace for its lifetime but keeps the running layers, which build other layers by symbols.
class OutsideTrace {
 public:
  OutsideTrace();
  ~OutsideTrace();
  OutsideTrace(const OutsideTrace&) = delete;
  OutsideTrace& operator=(const OutsideTrace&) = delete;

 private:
  Trace* outer_;
};

}  // namespace mezzo
