#include <mezzo/core/fail.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/layers/recurrent/rnn_cell.hpp>
#include <mezzo/nn/masks.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/scan.hpp>

namespace mezzo {
namespace {

/// Shape of a sequence of such steps.
Shape sequence_shape(Shape step, std::int64_t steps) {
  step.insert(step.begin() + 1, steps);
  return step;
}

/// Swaps the batch and the steps.
Value time_major(const Value& x) {
  Shape order;
  for (std::size_t i = 0; i < x.shape().size(); ++i) order.push_back(static_cast<std::int64_t>(i));
  std::swap(order[0], order[1]);
  return transpose(x, order);
}

/// `after` in the samples that the mask (batch,) of a step doesn't skip, else `before`.
Value unless_skipped(const Value& mask, const Value& after, const Value& before) {
  return where(detail::mask_of_rank(mask, after.shape().size()), after, before);
}

/// Calls the function and checks the number and shapes of its results.
Values checked_step(const detail::StepFunction& step, const Value& x, const Values& states) {
  Values out = step(x, states);
  const std::string where = detail::current_label("RNN");
  if (out.size() != states.size() + 1) {
    fail<ValueError>(where, "the cell must return the output and {} states; got {} values", states.size(), out.size());
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (out[i + 1].shape() == states[i].shape()) continue;
    fail<ShapeError>(where, "state {} must keep shape {}; the cell returned shape {}", i, states[i].shape(),
                     out[i + 1].shape());
  }
  return out;
}

/// Zeros like the output of a step.
Value zero_output(const detail::StepFunction& step, const Value& sequence, const Values& states) {
  Trace trace(Trace::Mode::body, detail::training_phase());
  Values given;
  const Value x = trace.input("x", Spec{detail::step_shape(sequence.shape()), sequence.dtype()});
  for (const Value& state : states) given.push_back(trace.input("state", Spec{state.shape(), state.dtype()}));
  const Value y = checked_step(step, x, given).front();
  return Tensor(y.shape(), y.dtype());
}

/// A symbol of a functional graph.
Value state_symbol(const Shape& shape, DType dtype, const std::string& where) {
  auto node = std::make_shared<detail::Node>();
  node->op = &input_op();
  node->where = where;
  node->outputs = {{shape, dtype}};
  return {node, 0};
}

/// Specs of the results of run_sequence on symbols of a functional graph. Builds the cell.
std::vector<Spec> specs_on_symbols(RNNCell& cell, const Value& sequence) {
  const Shape input = detail::step_shape(sequence.shape());
  const std::string where = detail::current_label("RNN");
  Values states;
  for (const Shape& shape : cell.state_shapes(input)) {
    states.push_back(state_symbol(detail::with_batch(input[0], shape), sequence.dtype(), where));
  }
  const auto call = [&](const Value& x, const Values& before) {
    Values xs{x};
    xs.insert(xs.end(), before.begin(), before.end());
    return cell(xs);
  };
  const Values out = checked_step(call, state_symbol(input, sequence.dtype(), where), states);
  std::vector<Spec> specs;
  for (const Value& y : out) specs.push_back({y.shape(), y.dtype()});
  specs[0].shape = sequence_shape(specs[0].shape, sequence.shape()[1].or_unknown());
  return specs;
}

}  // namespace

std::vector<Shape> RNNCell::state_shapes(const Shape&) const {
  std::vector<Shape> shapes;
  for (const std::int64_t size : state_size()) shapes.push_back({size});
  return shapes;
}

Values RNNCell::get_initial_state(const Shape& input) {
  Values states;
  for (const Shape& shape : state_shapes(input)) {
    states.push_back(Tensor(detail::with_batch(input[0], shape), detail::current_policy().compute_dtype()));
  }
  return states;
}

Shape detail::step_shape(Shape sequence) {
  sequence.erase(sequence.begin() + 1);
  return sequence;
}

Shape detail::with_batch(std::int64_t batch, Shape state) {
  state.insert(state.begin(), batch);
  return state;
}

Value detail::dropout_factors(const Shape& shape, DType dtype, double rate, const std::optional<std::uint64_t>& seed) {
  const Value whole = Tensor(ones(shape, dtype));
  Draw draw = next_draw(DrawnFor::loop);
  if (seed) draw.seed = Value(Tensor({}, std::vector<double>{static_cast<double>(*seed)}));
  Values operands{whole, draw.seed, draw.step};
  if (Value first = draw.first_element(shape); first.defined()) operands.push_back(std::move(first));
  return insert_one(ops::dropout, operands, {{"rate", rate}, {"key", draw.key}});
}

Values detail::run_steps(const StepFunction& step, const Value& sequence, const Values& states, const Value& mask,
                         std::optional<std::size_t> output_state) {
  const std::size_t count = states.size();
  const bool repeats = mask.defined() && !output_state;
  Values init = states, xs{time_major(sequence)};
  if (repeats) init.push_back(zero_output(step, sequence, states));
  if (mask.defined()) xs.push_back(time_major(mask));
  const auto iteration = [&](const Values& carry, const Values& x) {
    const Values before(carry.begin(), carry.begin() + static_cast<std::ptrdiff_t>(count));
    const Values out = checked_step(step, x[0], before);
    Value output = out[0];
    Values after(out.begin() + 1, out.end());
    if (mask.defined()) {
      for (std::size_t i = 0; i < count; ++i) after[i] = unless_skipped(x[1], after[i], before[i]);
      output = output_state ? after[*output_state] : unless_skipped(x[1], output, carry.back());
    }
    if (repeats) after.push_back(output);
    return ScanResult{after, {output}};
  };
  const ScanResult result = scan(iteration, init, xs);
  Values all{time_major(result.outputs[0])};
  all.insert(all.end(), result.carry.begin(), result.carry.begin() + static_cast<std::ptrdiff_t>(count));
  return all;
}

Values detail::run_sequence(const Any<Layer>& handle, const detail::Shared<detail::LayerState>& owner,
                            const Value& sequence, const Values& states, const Value& mask) {
  auto& cell = dynamic_cast<RNNCell&>(*handle);
  Values xs{sequence};
  xs.insert(xs.end(), states.begin(), states.end());
  if (mask.defined()) xs.push_back(mask);
  if (cell.takes_sequences()) return cell(xs);
  const auto run = [handle, owner](const Values& then) {
    const detail::CalledBy as_owner(owner);
    auto& own = dynamic_cast<RNNCell&>(*handle);
    const RecurrentInputs given = recurrent_inputs(then);
    Values before;
    for (const Value& state : given.states) {
      before.push_back(is_floating(state.dtype())
                           ? as(state.across_border(false), detail::current_policy().compute_dtype())
                           : state);
    }
    if (before.empty()) before = own.get_initial_state(detail::step_shape(then[0].shape()));
    const auto step = [&own](const Value& x, const Values& now) {
      Values inputs{x};
      inputs.insert(inputs.end(), now.begin(), now.end());
      return own(inputs);
    };
    return run_steps(step, then[0], before, given.mask, own.output_state());
  };
  const bool later = Trace::current() == nullptr && sequence.symbolic();
  return later ? detail::defer(run, xs, specs_on_symbols(cell, sequence)) : run(xs);
}

}  // namespace mezzo
