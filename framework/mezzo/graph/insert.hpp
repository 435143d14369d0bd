#pragma once
#include <memory>

#include <mezzo/graph/node.hpp>
#include <mezzo/graph/runtime_scalar.hpp>

namespace mezzo {

/// Applies an op: the one way by which nodes come to be. Decides the operands' dtypes (autocast) and inserts the
/// casts, lets the op check the call, then
/// - in a trace, appends a node (in an eager trace also computes it);
/// - on symbols of a functional graph, makes a node that remembers its layers and is left uncast;
/// - otherwise computes at once, through the same kernels that plans use.
Values insert(const Op& op, Values inputs, Attributes attributes = {});

/// The same for an op of one output.
Value insert_one(const Op& op, Values inputs, Attributes attributes = {});

/// The dtypes in which these operands enter an op that takes them by this rule, here.
std::vector<DType> operand_dtypes(const Op& op, const CastRule& rule, const Values& operands);

/// A read of a variable, subject to autocast unless the variable is exempt. In a trace a read after an update sees
/// the new value.
Value read_variable(const std::shared_ptr<VariableState>& variable);

/// The variable gets this value when the step is committed: in a trace at its end, after the last check; outside, at
/// once. The value is cast to the variable's dtype.
void update_variable(const std::shared_ptr<VariableState>& variable, const Value& value);

/// What a variable is kept in, of a split master the high halves (and of its `remainder` the low ones), for optimizers
/// that read and write both.
Value read_stored(const std::shared_ptr<VariableState>& variable);
void update_stored(const std::shared_ptr<VariableState>& variable, const Value& kept);

/// As update_variable, but only in training and within layers that are all trainable: moving statistics.
void update_in_training(const std::shared_ptr<VariableState>& variable, const Value& value);

/// A runtime scalar, float64 of shape (): in a trace an input of the plan, outside 0. `optimizer` is the index of the
/// one that it belongs to.
Value runtime_scalar(RuntimeScalar scalar, std::size_t optimizer = 0);

/// Collects, for its lifetime, the updates of variables by symbols of a functional graph: what the running layer does
/// to its moving statistics. The innermost one of the thread collects.
class UpdateCollector {
 public:
  UpdateCollector();
  ~UpdateCollector();
  UpdateCollector(const UpdateCollector&) = delete;
  UpdateCollector& operator=(const UpdateCollector&) = delete;

  bool empty() const { return updates_.empty(); }

  /// Moves the updates to the node of `output`, where the Model finds them; no update may depend on that node. Without
  /// a node they are dropped.
  void attach_to(const Value& output);

 private:
  friend void update_variable(const std::shared_ptr<VariableState>& variable, const Value& value);
  std::vector<Node::Update> updates_;
  UpdateCollector* outer_;
};

/// Whether dropout drops and batch norm learns here: in a training trace.
bool training_phase();

}  // namespace mezzo
