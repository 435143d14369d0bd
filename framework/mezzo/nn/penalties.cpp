#include <mezzo/nn/penalties.hpp>

#include <algorithm>

#include <mezzo/graph/read_codes.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/constraint.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

class FunctionRegularizer : public Regularizer {
 public:
  explicit FunctionRegularizer(std::function<Value(const Value&)> function) : function_(std::move(function)) {}
  Value call(const Value& x) const override { return function_(x); }

 private:
  std::function<Value(const Value&)> function_;
};

class FunctionConstraint : public Constraint {
 public:
  explicit FunctionConstraint(std::function<Value(const Value&)> function) : function_(std::move(function)) {}
  Value call(const Value& weight) const override { return function_(weight); }

 private:
  std::function<Value(const Value&)> function_;
};

/// x in the dtype in which sums of its dtype are accumulated: at least float32.
Value wide(const Value& x) {
  const Value inside = x.across_border(false);
  const DType dtype = is_floating(x.dtype()) ? accumulation_dtype(x.dtype()) : DType::float32;
  return x.dtype() == dtype && !x.weak() ? inside : cast(inside, dtype);
}

}  // namespace

Any<Regularizer> Regularizer::of_function(std::function<Value(const Value&)> function) {
  return FunctionRegularizer(std::move(function));
}

Any<Constraint> Constraint::of_function(std::function<Value(const Value&)> function) {
  return FunctionConstraint(std::move(function));
}

namespace detail {

Value as_loss(const Value& loss) {
  const LibraryScope as_inserted;
  const Value one = wide(loss);
  return one.shape().empty() ? one : sum(one);
}

Value penalty_of(const Variable& weight) {
  const LibraryScope as_inserted;
  return as_loss(weight.state()->regularizer(wide(read_unrounded(weight.state().pointer()))));
}

Value activity_penalty(const Any<Regularizer>& regularizer, const Value& output) {
  const auto penalty = [regularizer](const Values& ys) -> Values {
    const LibraryScope as_inserted;
    const Value loss = as_loss((*regularizer)(wide(ys.front())));
    const Shape& shape = ys.front().shape();
    return {shape.empty() ? loss : loss / static_cast<double>(std::max<std::int64_t>(shape.front(), 1))};
  };
  return defer(penalty, {output}, {{{}, DType::float32}}).front();  // dtype and batch size are those of the run
}

void add_loss(const Shared<LayerState>& layer, const Value& loss) {
  if (Trace* trace = Trace::current()) {
    trace->add_loss(layer.pointer(), loss);
  } else if (loss.symbolic()) {
    collect_loss(loss);
  } else {
    layer->losses.push_back(loss);
  }
}

void constrain(const std::shared_ptr<VariableState>& variable) {
  if (!variable->constraint) return;
  const LibraryScope as_inserted;
  update_variable(variable, variable->constraint(wide(read_unrounded(variable))));
}

}  // namespace detail

}  // namespace mezzo
