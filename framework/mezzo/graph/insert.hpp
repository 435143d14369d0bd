#pragma once
#include <memory>

#include <mezzo/graph/node.hpp>

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

/// Updates of functional graphs that wait for the layer's output to hang on, so that the model finds them.
std::vector<Node::Update>& pending_updates();

/// Hangs them on the node of that output, one that none of them depends on; without a node there are none.
void hang_updates(const Value& output);

/// A number that changes from step to step without another plan: "step", "epoch", "seed", ... Outside of a trace it
/// has the value that set_runtime gave it, or 0. Of dtype float64, shape ().
Value runtime_scalar(const std::string& name);

/// Whether dropout drops and batch norm learns here: in a training trace.
bool training_phase();

}  // namespace mezzo
