#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/ops/ops.hpp>

// Losses of labels.
namespace mezzo::detail {
namespace {

/// Mean or sum of negative log-probabilities (N, C, ...) at labels (N, ...), by weights of classes.
Value label_loss(OnnxCall& call, const Value& log_probabilities) {
  const std::string reduction = call.text("reduction", "mean");
  if (reduction != "none" && reduction != "mean" && reduction != "sum") {
    call.refuse("unknown reduction \"{}\"; valid names: none, mean, sum", reduction);
  }
  if (call.rank(0) < 2 || call.rank(1) + 1 != call.rank(0)) {
    call.refuse("scores must have one axis more than labels; got shapes {} and {}", call.shape(0), call.shape(1));
  }
  Value labels = cast(call.in(1), DType::int64), counted;
  if (call.has_attribute("ignore_index")) {
    counted = not_equal(labels, call.integer("ignore_index", 0));
    labels = where(counted, labels, zeros_like(labels));
  }
  const Value picked = squeeze(take_along_axis(log_probabilities, expand_dims(labels, 1), 1), 1);
  Value weights = call.has(2) ? take(call.in(2), labels, 0) : ones_like(picked);
  if (counted.defined()) weights = where(counted, weights, zeros_like(weights));
  const Value losses = -picked * weights;
  if (reduction == "none") return losses;
  return reduction == "sum" ? sum(losses) : sum(losses) / sum(weights);
}

void run_nll(OnnxCall& call) { call.put(label_loss(call, call.in(0))); }

void run_crossentropy(OnnxCall& call) {
  if (call.rank(0) < 2) call.refuse("scores must have 2 axes or more; got shape {}", call.shape(0));
  const Value log_probabilities = log_softmax(call.in(0), 1);
  call.put(label_loss(call, log_probabilities));
  if (call.wants(1)) call.put(log_probabilities, 1);
}

}  // namespace

void add_onnx_losses(OnnxOperators& table) {
  table["NegativeLogLikelihoodLoss"] = {.run = run_nll, .least = 2, .most = 3};
  table["SoftmaxCrossEntropyLoss"] = {.run = run_crossentropy, .least = 2, .most = 3, .outputs = 2};
}

}  // namespace mezzo::detail
