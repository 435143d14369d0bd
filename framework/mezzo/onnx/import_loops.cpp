#include <algorithm>
#include <limits>

#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/ops/scan.hpp>

// Branches and loops.
namespace mezzo::detail {
namespace {

constexpr std::size_t most_loop_ports = 1024;  // inputs and outputs of a loop

/// A branch whose condition is a constant, or follows from sizes.
void run_if(OnnxCall& call) {
  const auto yes = call.body("then_branch"), no = call.body("else_branch");
  const bool condition = call.one_int(0, "condition") != 0;
  const std::vector<OnnxValue> results = call.run_body(condition ? *yes : *no, {}, false);
  if (results.size() != call.outputs().size()) {
    call.refuse("branches must have {} outputs; got {}", call.outputs().size(), results.size());
  }
  for (std::size_t i = 0; i < results.size(); ++i) call.put(results[i], i);
}

/// Number of outputs that the iterations of a body add elements to, behind `first` others. A ValueError if the body
/// doesn't fit the node.
std::size_t added_outputs(OnnxCall& call, const OnnxBody& body, std::size_t inputs, std::size_t first,
                          std::size_t carried) {
  const std::size_t results = call.outputs().size();
  if (body.inputs.size() != inputs || body.outputs.size() < first || results < carried ||
      body.outputs.size() - first != results - carried) {
    call.refuse("the body must have {} inputs, and {} outputs for {} of the node; got {} and {}", inputs,
                first + results - std::min(results, carried), results, body.inputs.size(), body.outputs.size());
  }
  return results - carried;
}

/// True if an iteration's condition is met.
bool is_met(const OnnxCall& call, const OnnxValue& condition) {
  const Value value = in_file_order(condition);
  if (value.node()) {
    call.refuse(
        "the condition must be a constant, or follow from shapes and the iteration; got one that depends on the "
        "numbers of the batch");
  }
  if (value.tensor().size() != 1) call.refuse("the condition must be one bool; got shape {}", Shape(value.shape()));
  return value.tensor().item() != 0;
}

OnnxValue constant_value(const Tensor& tensor) {
  OnnxValue out;
  out.first = tensor;
  out.constant = true;
  return out;
}

/// Writes the iterations one after the other. Their number must be known.
void run_loop(OnnxCall& call) {
  const auto body = call.body("body");
  const std::size_t given = std::max<std::size_t>(call.input_count(), 2), carried = given - 2;
  const std::size_t added = added_outputs(call, *body, given, 1 + carried, carried);
  const std::int64_t most = call.has(0) ? call.one_int(0, "the trip count") : std::numeric_limits<std::int64_t>::max();
  bool goes_on = !call.has(1) || call.one_int(1, "the condition") != 0;
  std::vector<OnnxValue> state;
  for (std::size_t i = 0; i < carried; ++i) state.push_back(call.value_of(i + 2));
  std::vector<Values> elements(added);
  for (std::int64_t i = 0; goes_on && i < most; ++i) {
    std::vector<OnnxValue> inputs{constant_value(int64_vector({i}).reshape({})),
                                  constant_value(Tensor::scalar(1).cast(DType::boolean))};
    inputs.insert(inputs.end(), state.begin(), state.end());
    const std::vector<OnnxValue> results = call.run_body(*body, inputs, false);
    goes_on = is_met(call, results[0]);
    state.assign(results.begin() + 1, results.begin() + 1 + static_cast<std::ptrdiff_t>(carried));
    for (const OnnxValue& one : state) check_onnx_size(call, in_file_order(one).shape());
    for (std::size_t k = 0; k < added; ++k) elements[k].push_back(in_file_order(results[1 + carried + k]));
  }
  for (std::size_t i = 0; i < carried; ++i) call.put(state[i], i);
  for (std::size_t k = 0; k < added; ++k) {
    if (!call.wants(carried + k)) continue;
    if (elements[k].empty()) call.refuse("output {} needs an iteration to know its shape; got none", carried + k);
    call.put(stack(elements[k], 0), carried + k);
  }
}

/// Numbers of an attribute for each array of a Scan; zeros if it is absent.
std::vector<std::int64_t> numbers_of_arrays(OnnxCall& call, const char* name, std::size_t count) {
  std::vector<std::int64_t> out = call.integers(name);
  if (out.empty()) out.resize(count, 0);
  if (out.size() != count) call.refuse("{} must have {} numbers; got {}", name, count, out.size());
  return out;
}

/// The same body for each element of arrays along an axis.
void run_scan(OnnxCall& call) {
  if (call.opset() < 9) call.refuse("Scan is supported from opset 9 on; got opset {}", call.opset());
  const auto body = call.body("body");
  const std::size_t given = call.input_count();
  const std::int64_t arrays = call.integer("num_scan_inputs", 0);
  if (arrays < 1 || static_cast<std::size_t>(arrays) > given) {
    call.refuse("num_scan_inputs must be from 1 to {}; got {}", given, arrays);
  }
  const auto sequences = static_cast<std::size_t>(arrays);
  const std::size_t carried = given - sequences;
  const std::size_t added = added_outputs(call, *body, given, carried, carried);
  const auto axes = numbers_of_arrays(call, "scan_input_axes", sequences);
  const auto directions = numbers_of_arrays(call, "scan_input_directions", sequences);
  const auto result_axes = numbers_of_arrays(call, "scan_output_axes", added);
  const auto result_directions = numbers_of_arrays(call, "scan_output_directions", added);
  Values init, xs;
  for (std::size_t i = 0; i < carried; ++i) init.push_back(call.in(i));
  for (std::size_t i = 0; i < sequences; ++i) {
    const std::int64_t axis = normalize_axis(axes[i], call.rank(carried + i), call.where() + " scan_input_axes");
    const Value x = moveaxis(call.in(carried + i), axis, 0);
    xs.push_back(directions[i] != 0 ? flip(x, 0) : x);
  }
  const ScanResult result = scan(
      [&](const Values& carry, const Values& elements) {
        std::vector<OnnxValue> inputs(given);
        for (std::size_t i = 0; i < carried; ++i) inputs[i].first = carry[i];
        for (std::size_t i = 0; i < sequences; ++i) inputs[carried + i].first = elements[i];
        ScanResult out;
        const std::vector<OnnxValue> results = call.run_body(*body, inputs, true);
        for (std::size_t i = 0; i < results.size(); ++i) {
          (i < carried ? out.carry : out.outputs).push_back(in_file_order(results[i]));
        }
        return out;
      },
      init, xs);
  for (std::size_t i = 0; i < carried; ++i) call.put(result.carry[i], i);
  for (std::size_t k = 0; k < added; ++k) {
    const Value y = result_directions[k] != 0 ? flip(result.outputs[k], 0) : result.outputs[k];
    const Shape shape = y.shape();
    call.put(moveaxis(y, 0, normalize_axis(result_axes[k], shape.size(), call.where() + " scan_output_axes")),
             carried + k);
  }
}

}  // namespace

void add_onnx_loops(OnnxOperators& table) {
  table["If"] = {.run = run_if, .outputs = most_loop_ports, .folds = false};
  table["Loop"] = {.run = run_loop, .least = 0, .most = most_loop_ports, .outputs = most_loop_ports, .folds = false};
  table["Scan"] = {.run = run_scan, .least = 1, .most = most_loop_ports, .outputs = most_loop_ports, .folds = false};
}

}  // namespace mezzo::detail
