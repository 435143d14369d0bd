#pragma once
#include <functional>
#include <memory>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/node.hpp>
#include <mezzo/graph/runtime_scalar.hpp>

namespace mezzo {

/// Applies an op; all nodes are made here. Chooses the operands' dtypes (autocast), inserts the casts and runs the op's
/// check. Then:
/// - in a trace, appends a node (in an eager trace also computes it);
/// - on symbols of a functional graph, makes a node that stores its layers and has uncast operands;
/// - otherwise computes at once, with the same kernels as plans.
MEZZO_API Values insert(const Op& op, Values inputs, Attributes attributes = {});

/// The same for an op of one output. Returns that output.
MEZZO_API Value insert_one(const Op& op, Values inputs, Attributes attributes = {});

namespace detail {
/// Dtypes in which the operands enter the op under this rule and the current policy.
MEZZO_API std::vector<DType> operand_dtypes(const Op& op, const CastRule& rule, const Values& operands);
}  // namespace detail

/// Reads a variable. The value is subject to autocast unless variable->autocast is false. In a trace, a read after an
/// update returns the new value. Throws a ValueError if the variable has no value yet.
MEZZO_API Value read_variable(const std::shared_ptr<detail::VariableState>& variable);

/// Assigns a value, cast to the variable's dtype. In a trace the assignment takes effect when the step is committed,
/// after its last check; outside a trace, at once. Throws a ShapeError if the shapes differ.
MEZZO_API void update_variable(const std::shared_ptr<detail::VariableState>& variable, const Value& value);

/// Storage of a variable, for optimizers: the high halves of a split master (its `remainder` stores the low halves),
/// otherwise the value itself.
MEZZO_API Value read_stored(const std::shared_ptr<detail::VariableState>& variable);
MEZZO_API void update_stored(const std::shared_ptr<detail::VariableState>& variable, const Value& kept);

/// Calls update_variable in training if all enclosing layers are trainable. For moving statistics.
MEZZO_API void update_in_training(const std::shared_ptr<detail::VariableState>& variable, const Value& value);

namespace detail {
/// A runtime scalar, float64 of shape (): an input of the plan in a trace, 0 outside. The other
/// arguments are those of RuntimeKey.
MEZZO_API Value runtime_scalar(RuntimeScalar scalar, std::size_t optimizer = 0, std::size_t earlier = 0);

/// Collects the updates of variables and the losses that symbols of a functional graph make, for its lifetime: the
/// moving statistics and added losses of the running layer. Only the innermost collector of the thread is active.
class MEZZO_API UpdateCollector {
 public:
  UpdateCollector();
  ~UpdateCollector();
  UpdateCollector(const UpdateCollector&) = delete;
  UpdateCollector& operator=(const UpdateCollector&) = delete;

  bool empty() const { return updates_.empty() && losses_.empty(); }

  /// Moves updates and losses to the node of `output`, for the Model that owns the graph. None may depend on that
  /// node. Drops them if `output` has no node.
  void attach_to(const Value& output);

 private:
  friend void mezzo::update_variable(const std::shared_ptr<detail::VariableState>& variable, const Value& value);
  friend void collect_loss(const Value& loss);
  std::vector<Node::Update> updates_;
  Values losses_;
  UpdateCollector* outer_;
};

/// Adds a loss of symbols of a functional graph to the innermost collector. A ValueError if there is none.
MEZZO_API void collect_loss(const Value& loss);

/// True if the running layer is called on symbols of a functional graph. Its nodes are inserted again when the model is
/// called.
MEZZO_API bool in_functional_graph();

/// True if dropout drops elements and batch norm updates its statistics: in a training trace, unless a running layer
/// was called with a mode of its own.
MEZZO_API bool training_phase();

/// Result of function(inputs), called at once or, on symbols of a functional graph, each time its model is called. For
/// results that depend on the run: phase, step, batch size, random numbers. `outputs` are the specs of the results in
/// the graph.
MEZZO_API Values defer(std::function<Values(const Values&)> function, const Values& inputs, std::vector<Spec> outputs);
}  // namespace detail

}  // namespace mezzo
