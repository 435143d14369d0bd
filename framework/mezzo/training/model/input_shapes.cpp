#include <mezzo/training/model/input_shapes.hpp>

#include <algorithm>
#include <any>
#include <cstdint>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/module/inference_graph.hpp>

namespace mezzo::detail {
namespace {

/// Shape of one sample with a batch axis of size 1; empty unless the sample has exactly the open sizes that the model
/// takes.
Shape batch_of_one(const Shape& given, const Shape& expected) {
  Shape out{1};
  out.insert(out.end(), given.begin(), given.end());
  return fits(out, expected, false) ? out : Shape{};
}

bool has_input(const LayerState& model) {
  if (std::any_cast<GraphLayout>(&model.content) != nullptr) return true;
  const auto* sequence = std::any_cast<SequenceLayout>(&model.content);
  return sequence != nullptr && sequence->input;
}

}  // namespace

bool fits(const Shape& given, const Shape& expected, bool batch) {
  if (given.size() != expected.size()) return false;
  for (std::size_t axis = batch ? 0 : 1; axis < given.size(); ++axis) {
    if (given[axis] != expected[axis] && expected[axis] >= 0) return false;
  }
  return true;
}

std::string batch_axis_hint(const Shape& given, const Shape& expected) {
  const bool unknown = std::any_of(given.begin(), given.end(), [](std::int64_t size) { return size < 0; });
  if (given.size() + 1 != expected.size() || unknown) return "";
  const Shape whole = batch_of_one(given, expected);
  if (whole.empty()) return ": one sample needs a batch axis, too";
  return fmt::format(": add a batch axis: x.reshape({{{}}})", fmt::join(whole, ", "));
}

void require_batch_axis(const std::string& where, std::size_t input, const Shape& given, const Shape& expected) {
  const std::string hint = batch_axis_hint(given, expected);
  if (hint.empty()) return;
  Shape with_last = given;  // Keras adds a last axis of size 1
  with_last.push_back(1);
  if (fits(with_last, expected, false)) return;
  fail<ShapeError>(where, "input {} must have shape {}; got shape {}{}", input, expected, given, hint);
}

void require_batch_axes(const LayerState& model, const std::string& where, const std::vector<NamedTensor>& inputs) {
  const std::vector<Spec> specs = input_specs(model);
  if (specs.size() != inputs.size()) return;
  const bool fixed = has_input(model);
  constexpr std::size_t picture_axes = 4;  // Dense layers alone take any number of axes
  for (std::size_t i = 0; i < specs.size(); ++i) {
    Shape expected = specs[i].shape;
    if (!fixed && !expected.empty()) expected.front() = -1;  // the call that built the model had any batch
    const Shape& given = inputs[i].tensor.shape();
    if (fixed || (expected.size() >= picture_axes && given.size() + 1 == expected.size() &&
                  std::equal(given.begin(), given.end(), expected.begin() + 1))) {
      require_batch_axis(where, i, given, expected);
    }
  }
}

}  // namespace mezzo::detail
