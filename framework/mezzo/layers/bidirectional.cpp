#include <mezzo/layers/bidirectional.hpp>

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

}  // namespace

Bidirectional::Bidirectional(BidirectionalOptions options)
    : Layer("Bidirectional", options), merge_mode_(options.merge_mode) {
  if (!options.layer) fail<ValueError>(label(), "layer is required; got none");
  if (std::find(merge_modes.begin(), merge_modes.end(), merge_mode_) == merge_modes.end()) {
    fail<ValueError>(label(), "merge_mode must be one of {}; got \"{}\"", fmt::join(merge_modes, ", "), merge_mode_);
  }
  const RNN& given = *options.layer;
  const std::string kind = snake_case(given.state()->kind), name = given.name().empty() ? kind : given.name();
  forward_ = given.copy_in_direction(given.goes_backwards());
  backward_ = options.backward_layer ? *options.backward_layer : given.copy_in_direction(!given.goes_backwards());
  if (forward_->goes_backwards() == backward_->goes_backwards()) {
    fail<ValueError>(label(), "layer and backward_layer must differ in go_backwards; got {} twice",
                     forward_->goes_backwards());
  }
  if (!forward_->returns_like(*backward_)) {
    fail<ValueError>(label(),
                     "layer and backward_layer must have the same stateful, return_sequences and return_state");
  }
  forward_->set_zero_output_for_mask(given.returns_sequences());
  backward_->set_zero_output_for_mask(given.returns_sequences());
  sub("forward_" + name, *forward_);
  sub(options.backward_layer && !backward_->name().empty() ? backward_->name() : "backward_" + name, *backward_);
  set_weight_files({.rename = {{"^forward_[^.]*\\.", ""}, {"^backward_[^.]*\\.(.*)$", "$1_reverse"}}});
}

BidirectionalOptions Bidirectional::with_layer(const RNN& layer, BidirectionalOptions options) {
  if (options.layer) detail::fail_given_twice("Bidirectional", options.name, "layer");
  options.layer = layer;
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
  forward_->reset_state();
  backward_->reset_state();
}

Values Bidirectional::compute_mask(const Values& inputs, const Values&) const {
  if (!forward_->returns_sequences()) return {};
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
  const Values forward = (*forward_)(first, {.mask = mask}), backward = (*backward_)(second, {.mask = mask});
  Values out = merged(merge_mode_, forward[0], forward_->returns_sequences() ? flip(backward[0], 1) : backward[0]);
  out.insert(out.end(), forward.begin() + 1, forward.end());
  out.insert(out.end(), backward.begin() + 1, backward.end());
  return out;
}

}  // namespace mezzo
