#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/graph/node.hpp>
#include <mezzo/graph/runtime_scalar.hpp>

namespace mezzo {

/// What a trace leaves behind: nodes in an order in which each comes after its inputs.
struct Graph {
  struct Output {
    std::string name;
    Value value;
  };
  struct Update {
    std::shared_ptr<VariableState> variable;
    Value value;
    int group = -1;  ///< of gates that hold it back; -1: all of them
  };
  /// Reaction of a run to a gate whose `ok` is false.
  enum class OnFailure {
    skip_update,  ///< the run goes on; updates that the gate guards are not committed (loss scaling)
    error         ///< the run throws a ValueError; no update is committed
  };
  /// Condition for updates: those of its group, and those without a group, are committed only if `ok` is true.
  struct Gate {
    Value ok;  ///< bool, shape ()
    int group = -1;
    OnFailure on_failure = OnFailure::skip_update;
    std::string error{};  ///< text of the ValueError; unused with OnFailure::skip_update
  };

  std::vector<NodePtr> nodes;
  std::vector<Value> inputs;
  std::vector<Output> outputs;
  std::vector<Update> updates;
  std::vector<Gate> gates;
};

/// The runtime scalar that a leaf of runtime_op() stands for.
RuntimeKey runtime_key(const Node& node);

/// While one lives, ops on this thread are recorded in its graph. Scopes of layers around it are forgotten until it
/// ends.
class Trace {
 public:
  enum class Mode {
    graph,  ///< symbols only, to be compiled into a plan
    eager   ///< each node is computed as it is inserted
  };
  explicit Trace(Mode mode, bool training = false);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// This thread's, or null.
  static Trace* current();

  Mode mode() const { return mode_; }
  bool training() const { return training_; }
  Graph& graph() { return graph_; }

  /// An input of the plan, in the order of its arguments. An eager trace takes the numbers.
  Value input(const std::string& name, const Spec& spec);
  Value input(const std::string& name, const Tensor& numbers);

  /// A runtime scalar, float64 of shape (); an eager trace takes its number from `runtime_values`, 0 if it has none.
  Value runtime(const RuntimeKey& key);
  std::map<RuntimeKey, double> runtime_values;

  void output(const std::string& name, const Value& value);
  void update(const std::shared_ptr<VariableState>& variable, const Value& kept);
  int update_group = -1;  ///< the group that updates join from now on
  void gate(Graph::Gate gate);

  /// The variable as it stands now: its last update in this trace, or a leaf; of a split master, its halves joined.
  Value read(const std::shared_ptr<VariableState>& variable);

  /// What its first read gave, whatever has been made of it since: what gradients are asked of. Undefined without one.
  Value first_read(const std::shared_ptr<VariableState>& variable) const;

  /// The variable as it stands now, as it is kept.
  Value stored(const std::shared_ptr<VariableState>& variable);

  /// Appends a node; computes it in eager mode.
  Values append(NodePtr node);

  /// The value as one of this trace: variables are read, arrays become constants. A ValueError for a symbol of
  /// another trace or of a functional graph.
  Value adopt(const Value& value);

  /// How often this was called with the same path: tells apart several dropouts of one layer.
  std::int64_t count(const std::string& path) { return counts_[path]++; }

 private:
  Value leaf(const Op& op, Attributes attributes, const Spec& spec);

  Mode mode_;
  bool training_;
  std::uint64_t id_;
  Graph graph_;
  Trace* outer_;
  FreshScope fresh_;
  std::map<const VariableState*, Value> stored_, joined_, first_reads_;
  std::map<RuntimeKey, Value> runtimes_;
  std::map<std::string, std::int64_t> counts_;
};

/// While one lives, this thread is in no trace, but in the layers that it was in: they build others by symbols.
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
