#include <mezzo/layers/recurrent/rnn.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/initializers/constant.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/masks.hpp>
#include <mezzo/ops/open_sizes.hpp>

namespace mezzo {
namespace {

/// Name of the cell in its layer. Checks the cell first.
std::string checked_cell_name(const RNNOptions& options) {
  const std::string where = options.name.empty() ? "[RNN]" : fmt::format("[RNN \"{}\"]", options.name);
  if (!options.cell) fail<ValueError>(where, "cell is required; got none");
  if (dynamic_cast<const RNNCell*>(&*options.cell) == nullptr) {
    fail<ValueError>(where, "cell must be an RNNCell, such as LSTMCell(32); got a layer of another class");
  }
  if (!options.cell->name().empty()) return options.cell->name();
  return detail::snake_case(options.cell->state()->kind);
}

const RNNCell& as_cell(const Any<Layer>& layer) { return dynamic_cast<const RNNCell&>(*layer); }

/// The last step of (batch, steps, ...).
Value last_step(const Value& x) {
  const auto last = [](const Value& y) {
    Shape starts(y.shape().size(), 0), sizes = y.shape();
    starts[1] = sizes[1] - 1;
    sizes[0] = -1;
    sizes[1] = 1;
    return squeeze(slice(y, {starts, sizes}), 1);
  };
  return with_sizes(last, x);
}

StackedRNNCellsOptions with_cells(const std::vector<Any<Layer>>& cells, StackedRNNCellsOptions options) {
  if (!options.cells.empty()) detail::fail_given_twice("StackedRNNCells", options.name, "cells");
  options.cells = cells;
  return options;
}

}  // namespace

Values RecurrentCallOptions::inputs(Values inputs) const {
  inputs.insert(inputs.end(), initial_state.begin(), initial_state.end());
  if (mask.defined()) inputs.push_back(mask);
  return inputs;
}

StackedRNNCells::StackedRNNCells(const StackedRNNCellsOptions& options) : RNNCell("StackedRNNCells", options) {
  if (options.cells.empty()) fail<ValueError>(label(), "cells must be one or more; got none");
  for (const Any<Layer>& cell : options.cells) {
    if (!cell || dynamic_cast<const RNNCell*>(&*cell) == nullptr) {
      fail<ValueError>(label(), "cells must be RNNCells, such as LSTMCell(32); got {}",
                       cell ? "a layer of another class" : "an empty handle");
    }
    cells_.push_back(sub(cell->name(), detail::SubLayer{cell}).layer);
  }
}

StackedRNNCells::StackedRNNCells(const std::vector<Any<Layer>>& cells, StackedRNNCellsOptions options)
    : StackedRNNCells(with_cells(cells, std::move(options))) {}

void StackedRNNCells::build(const Shape&) {}  // the cells are built by their calls

Shape StackedRNNCells::state_size() const {
  Shape all;
  for (const Any<Layer>& cell : cells_) {
    const Shape sizes = as_cell(cell).state_size();
    all.insert(all.end(), sizes.begin(), sizes.end());
  }
  return all;
}

std::int64_t StackedRNNCells::output_size() const { return as_cell(cells_.back()).output_size(); }

std::optional<std::size_t> StackedRNNCells::output_state() const {
  const RNNCell& last = as_cell(cells_.back());
  const std::optional<std::size_t> own = last.output_state();
  if (!own) return own;
  return state_size().size() - last.state_size().size() + *own;
}

std::vector<Shape> StackedRNNCells::state_shapes(const Shape& input) const {
  std::vector<Shape> all;
  Shape given = input;
  for (const Any<Layer>& cell : cells_) {
    for (Shape& shape : as_cell(cell).state_shapes(given)) all.push_back(std::move(shape));
    given = {input[0], as_cell(cell).output_size()};
  }
  return all;
}

Values StackedRNNCells::get_initial_state(const Shape& input) {
  Values all;
  Shape given = input;
  for (Any<Layer>& layer : cells_) {
    auto& cell = dynamic_cast<RNNCell&>(*layer);
    for (Value& state : cell.get_initial_state(given)) all.push_back(std::move(state));
    given = {input[0], cell.output_size()};
  }
  return all;
}

bool StackedRNNCells::takes_sequences() const {
  return std::all_of(cells_.begin(), cells_.end(), [](const auto& cell) { return as_cell(cell).takes_sequences(); });
}

Values StackedRNNCells::call_many(const Values& xs) {
  const std::size_t total = state_size().size();
  const detail::RecurrentInputs given = detail::recurrent_inputs(xs);
  if (!given.states.empty() && given.states.size() != total) {
    fail<ValueError>(label(), "takes {} states; got {}", total, given.states.size());
  }
  Value output = xs[0];
  Values states;
  auto next = given.states.begin();
  for (Any<Layer>& cell : cells_) {
    Values inputs{output};
    if (!given.states.empty()) {
      const auto count = static_cast<std::ptrdiff_t>(as_cell(cell).state_size().size());
      inputs.insert(inputs.end(), next, next + count);
      next += count;
    }
    if (given.mask.defined()) inputs.push_back(given.mask);
    const Values out = cell(inputs);
    output = out[0];
    states.insert(states.end(), out.begin() + 1, out.end());
  }
  states.insert(states.begin(), output);
  return states;
}

RNN::RNN(const RNNOptions& options) : RNN("RNN", options, options.cell, checked_cell_name(options)) {}

RNNOptions RNN::with_cell(Any<Layer> cell, RNNOptions options) {
  if (options.cell) detail::fail_given_twice("RNN", options.name, "cell");
  options.cell = std::move(cell);
  return options;
}

RNN::RNN(const std::vector<Any<Layer>>& cells, RNNOptions options)
    : RNN(with_cell(StackedRNNCells(cells), std::move(options))) {}

/// Removes the cell's name from names in weight files, which are torch's.
void RNN::leave_out_in_files(const std::string& cell_name) {
  set_weight_files({.rename = {{"^" + cell_name + "\\.", ""}}});
}

bool RNN::returns_like(const RNN& other) const {
  return flags_.return_sequences == other.flags_.return_sequences && flags_.return_state == other.flags_.return_state &&
         flags_.stateful == other.flags_.stateful;
}

RNNCell& RNN::cell() const { return dynamic_cast<RNNCell&>(*const_cast<Any<Layer>&>(cell_)); }

Value RNN::operator()(const Value& sequence, const RecurrentCallOptions& options) {
  return (*this)(Values{sequence}, options).front();
}

Values RNN::operator()(const Values& inputs, const RecurrentCallOptions& options) {
  return Layer::operator()(options.inputs(inputs), {.training = options.training});
}

void RNN::build(const Shape& input) {
  require_sequence(input);
  if (!states_.empty() && !states_[0].filled()) add_states(input);
  Layer::build(input);
}

/// Throws a ShapeError unless the cell may take the steps of such an input.
void RNN::require_sequence(const Shape& input) const {
  if (cell().takes_sequences()) return detail::require_rank(label(), input, 3, "(batch, steps, features)");
  detail::require_rank_at_least(label(), input, 3);
}

/// Makes the states of a stateful layer. As in Keras they are not weights: neither counted nor saved.
void RNN::add_states(const Shape& input) {
  if (input[0] < 0) {
    fail<ValueError>(label(), "stateful needs a known batch size, as by Input's batch_size; got input shape {}", input);
  }
  const std::vector<Shape> shapes = cell().state_shapes(detail::step_shape(input));
  for (std::size_t i = 0; i < states_.size(); ++i) {
    detail::VariableState& state = *states_[i].state();
    state.value = Tensor(detail::with_batch(input[0], shapes.at(i)), compute_dtype());
    state.trainable = false;
    state.fixed_dtype = true;
    state.filled = true;
  }
}

void RNN::reset_state() {
  for (const Variable& state : states_) {
    if (state.filled()) state.assign(Tensor(state.shape(), state.dtype()));
  }
}

/// The given states, or those of the last call if the layer is stateful.
Values RNN::states_before(const Value& sequence, const Values& given) {
  const Shape sizes = cell().state_size();
  if (!given.empty() && given.size() != sizes.size()) {
    fail<ValueError>(label(), "initial_state must have {} arrays; got {}", sizes.size(), given.size());
  }
  if (!flags_.stateful) return given;
  const std::int64_t batch = states_.at(0).shape()[0], actual = sequence.shape()[0];
  if (actual >= 0 && actual != batch) {
    fail<ShapeError>(label(), "stateful: the batch size must be {}, that of the first call; got input shape {}", batch,
                     sequence.shape());
  }
  return given.empty() ? Values(states_.begin(), states_.end()) : given;
}

Values RNN::compute_mask(const Values& inputs, const Values&) const {
  if (!flags_.return_sequences) return {};
  const Value mask = detail::recurrent_inputs(inputs).mask_for(inputs.front());
  return {mask.defined() && flags_.go_backwards ? flip(mask, 1) : mask};
}

Values RNN::call_many(const Values& xs) {
  require_sequence(xs[0].shape());
  const detail::RecurrentInputs given = detail::recurrent_inputs(xs);
  Value mask = given.mask_for(xs[0]);
  if (given.mask.defined()) {
    const Shape &shape = mask.shape(), &of = xs[0].shape();
    if (shape.size() != 2 || (shape[1] != of[1] && shape[1] >= 0 && of[1] >= 0)) {
      fail<ShapeError>(label(), "mask must have shape {} (batch, steps); got shape {}", Shape{of[0], of[1]}, shape);
    }
  }
  for (const Value& state : given.states) {
    if (is_floating(state.dtype())) continue;
    fail<DTypeError>(label(), "initial_state must be floating, a mask bool; got {}", state.dtype());
  }
  if (xs[0].shape()[1] == 0 && !flags_.return_sequences) {
    fail<ShapeError>(label(), "a sequence without steps has no last output; got shape {}", xs[0].shape());
  }
  const Values before = states_before(xs[0], given.states);
  Value sequence = xs[0].with_mask({});
  if (flags_.go_backwards) {
    sequence = flip(sequence, 1);
    if (mask.defined()) mask = flip(mask, 1);
  }
  const Values all = detail::run_sequence(cell_, state(), sequence, before, mask);
  if (flags_.stateful) {
    for (std::size_t i = 0; i < states_.size(); ++i) update_variable(states_[i].state().pointer(), all[i + 1]);
  }
  Value output = all[0];
  const bool zeroes = mask.defined() && flags_.zero_output_for_mask;
  if (zeroes) {
    output = where(detail::mask_of_rank(mask, output.shape().size()), output, 0.0);
  }
  if (!flags_.return_sequences && !zeroes && cell().output_state()) {
    output = all[1 + *cell().output_state()];
  } else if (!flags_.return_sequences) {
    output = last_step(output);
  }
  Values out{output};
  if (flags_.return_state) out.insert(out.end(), all.begin() + 1, all.end());
  return out;
}

}  // namespace mezzo
