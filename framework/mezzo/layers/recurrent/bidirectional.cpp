#include <mezzo/layers/recurrent/bidirectional.hpp>

#include <algorithm>
#include <array>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {
namespace {

constexpr std::array<const char*, 5> merge_modes{"concat", "sum", "mul", "ave", "none"};

Values merged(const std::string& mode, const Value& forward, const Value& backward) {
  if (mode == "none") return {forward, backward};
  if (mode == "concat") return {concat({forward, backward})};
  if (mode == "mul") return {forward * backward};
  const Value sum = forward + backward;
  return {mode == "sum" ? sum : sum / 2.0};
}

RNN& as_rnn(const Any<Layer>& layer) { return dynamic_cast<RNN&>(*layer); }

void require_rnn(const std::string& where, const char* name, const Any<Layer>& layer) {
  if (dynamic_cast<const RNN*>(&*layer) != nullptr) return;
  fail<ValueError>(where, "{} must be a recurrent layer, such as LSTM(32); got a layer of another class", name);
}

/// A copy with new weights and the same direction, or the other one.
Any<Layer> copy_of(const std::string& where, const Any<Layer>& layer, bool other_direction) {
  if (layer->state()->called) {
    fail<ValueError>(where, "layer must be one that was never called, to be copied; got one that was");
  }
  Any<Layer> copy = clone(layer);
  if (other_direction) as_rnn(copy).set_go_backwards(!as_rnn(layer).goes_backwards());
  return copy;
}

}  // namespace

Bidirectional::Bidirectional(BidirectionalOptions options)
    : Layer("Bidirectional", options), merge_mode_(options.merge_mode) {
  if (!options.layer) fail<ValueError>(label(), "layer is required; got none");
  if (std::find(merge_modes.begin(), merge_modes.end(), merge_mode_) == merge_modes.end()) {
    fail<ValueError>(label(), "merge_mode must be one of {}; got \"{}\"", fmt::join(merge_modes, ", "), merge_mode_);
  }
  require_rnn(label(), "layer", options.layer);
  if (options.backward_layer) require_rnn(label(), "backward_layer", options.backward_layer);
  forward_ = copy_of(label(), options.layer, false);
  backward_ = options.backward_layer ? options.backward_layer : copy_of(label(), options.layer, true);
  RNN &forward = as_rnn(forward_), &backward = as_rnn(backward_);
  if (forward.goes_backwards() == backward.goes_backwards()) {
    fail<ValueError>(label(), "layer and backward_layer must differ in go_backwards; got {} twice",
                     forward.goes_backwards());
  }
  if (!forward.returns_like(backward)) {
    fail<ValueError>(label(),
                     "layer and backward_layer must have the same stateful, return_sequences and return_state");
  }
  forward.set_zero_output_for_mask(forward.returns_sequences());
  backward.set_zero_output_for_mask(forward.returns_sequences());
  const std::string kind = detail::snake_case(forward.state()->kind),
                    name = forward.name().empty() ? kind : forward.name();
  sub("forward_" + name, detail::SubLayer{forward_});
  sub(options.backward_layer && !backward.name().empty() ? backward.name() : "backward_" + name,
      detail::SubLayer{backward_});
  options.layer = forward_;  // configs have its flags
  state()->options = options;
  set_weight_files({.rename = {{"^forward_[^.]*\\.", ""}, {"^backward_[^.]*\\.(.*)$", "$1_reverse"}}});
}

BidirectionalOptions Bidirectional::with_layer(Any<Layer> layer, BidirectionalOptions options) {
  if (options.layer) detail::fail_given_twice("Bidirectional", options.name, "layer");
  options.layer = std::move(layer);
  return options;
}

Value Bidirectional::operator()(const Value& sequence, const RecurrentCallOptions& options) {
  return (*this)(Values{sequence}, options).front();
}

Values Bidirectional::operator()(const Values& inputs, const RecurrentCallOptions& options) {
  return Layer::operator()(options.inputs(inputs), {.training = options.training});
}

void Bidirectional::build(const Shape& input) {
  detail::require_rank(label(), input, 3, "(batch, steps, features)");
  Layer::build(input);
}

void Bidirectional::reset_state() {
  as_rnn(forward_).reset_state();
  as_rnn(backward_).reset_state();
}

Values Bidirectional::compute_mask(const Values& inputs, const Values&) const {
  if (!as_rnn(forward_).returns_sequences()) return {};
  const Value mask = detail::recurrent_inputs(inputs).mask_for(inputs.front());
  return merge_mode_ == "none" ? Values{mask, mask} : Values{mask};
}

Values Bidirectional::call_many(const Values& xs) {
  const detail::RecurrentInputs given = detail::recurrent_inputs(xs);
  const Values& states = given.states;
  const Value mask = given.mask_for(xs[0]);
  Values first{xs[0].with_mask({})}, second = first;
  if (states.size() % 2 != 0) {
    fail<ValueError>(label(), "initial_state must be those of both directions; got {} arrays", states.size());
  }
  const auto half = static_cast<std::ptrdiff_t>(states.size() / 2);
  first.insert(first.end(), states.begin(), states.begin() + half);
  second.insert(second.end(), states.begin() + half, states.end());
  RNN &forward_layer = as_rnn(forward_), &backward_layer = as_rnn(backward_);
  const Values forward = forward_layer(first, {.mask = mask}), backward = backward_layer(second, {.mask = mask});
  Values out = merged(merge_mode_, forward[0], forward_layer.returns_sequences() ? flip(backward[0], 1) : backward[0]);
  out.insert(out.end(), forward.begin() + 1, forward.end());
  out.insert(out.end(), backward.begin() + 1, backward.end());
  return out;
}

}  // namespace mezzo
