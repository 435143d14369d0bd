#include <mezzo/nn/metric.hpp>

#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/nn/number_targets.hpp>
#include <mezzo/nn/sample_weights.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

Tensor filled(const Shape& shape, double number) {
  Tensor out(shape, DType::float64);
  double* elements = out.mutable_data<double>();
  for (std::int64_t i = 0; i < out.size(); ++i) elements[i] = number;
  return out;
}

struct ListenerState {
  detail::MetricListener* listener = nullptr;
};

}  // namespace

detail::MetricListener*& detail::MetricListener::current() {
  return ExecutionContext::current().part<ListenerState>().listener;
}

std::vector<Tensor> detail::MetricState::numbers() const {
  std::vector<Tensor> out;
  for (const Variable& variable : variables) out.push_back(variable.value().copy());
  return out;
}

void detail::MetricState::set(const std::vector<Tensor>& numbers) const {
  for (std::size_t i = 0; i < variables.size(); ++i) {
    variables[i].assign(i < numbers.size() ? numbers[i] : filled(variables[i].shape(), initial[i]));
  }
}

void detail::MetricState::reset() const { set({}); }

Value Metric::call(const Value&, const Value&) const {
  fail<ValueError>("", "[{}] a metric must override call(), or update() and result(); got neither", name_);
}

void Metric::update_state(const Value& y_true, const Value& y_pred, const Value& sample_weight) {
  check_not_moved();
  if (auto* const listener = detail::MetricListener::current()) listener->before_update(state_);
  const detail::LibraryScope as_inserted;
  const auto inside = [](const Value& x) { return x.defined() ? x.across_border(false) : x; };
  update(inside(detail::number_targets(y_true, y_pred)), inside(y_pred), inside(sample_weight));
}

void Metric::update(const Value& y_true, const Value& y_pred, const Value& sample_weight) {
  add_values(call(y_true, y_pred), detail::masked_weight(sample_weight, y_pred.mask()));
}

void Metric::add_values(const Value& values, const Value& sample_weight) {
  add_state(total_, {});
  add_state(count_, {});
  const auto [weighted, weights] = detail::samplewise(name_, values, sample_weight);
  assign(total_, total_ + sum(weighted));
  const double samples = weighted.shape().empty() ? 1 : static_cast<double>(weighted.shape().front());
  assign(count_, count_ + (weights.defined() ? sum(weights) : Value(Tensor::scalar(samples, DType::float64))));
}

Value Metric::result() const {
  check_not_moved();
  if (!total_.filled()) return Tensor::scalar(0, DType::float64);
  const detail::LibraryScope as_inserted;
  const Value empty = equal(count_, 0.0);
  return where(empty, 0.0, total_ / where(empty, 1.0, count_));
}

void Metric::add_state(Variable& variable, const Shape& shape, double initial) {
  detail::VariableState& box = *variable.state();
  if (box.filled) {
    if (box.value.shape() != shape) {
      fail<ShapeError>("", "[{}] {} was made with shape {}; these arguments need {}", name_, box.name,
                       box.value.shape(), shape);
    }
    return;
  }
  box.value = filled(shape, initial);
  box.trainable = box.autocast = false;
  box.fixed_dtype = box.filled = true;
  state_->variables.push_back(variable);
  state_->initial.push_back(initial);
}

void Metric::assign(const Variable& variable, const Value& value) {
  update_variable(variable.state().pointer(), value);
}

}  // namespace mezzo
