#include <mezzo/onnx/import_call.hpp>

#include <algorithm>
#include <numeric>

#include <mezzo/graph/scope.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {
namespace {

/// Permutations of kernels: (F, C, spatial axes...) to (spatial axes..., C, F), and back.
Shape kernel_axes(std::size_t rank, bool back) {
  const auto last = static_cast<std::int64_t>(rank) - 1;
  Shape out;
  if (back) out = {last, last - 1};
  for (std::int64_t i = 0; i + 1 < last; ++i) out.push_back(back ? i : i + 2);
  if (!back) out.insert(out.end(), {1, 0});
  return out;
}

Shape moved(const Shape& shape, const Shape& permutation) {
  Shape out;
  for (const auto axis : permutation) out.push_back(shape[static_cast<std::size_t>(axis)]);
  return out;
}

Shape sizes_of(const Value& x) { return x.shape(); }

/// Shape in the file's order of axes.
Shape shape_of(const OnnxValue& one) {
  if (one.first.defined()) return sizes_of(one.first);
  const Value& from = one.last.defined() ? one.last : one.kernel;
  const Shape sizes = sizes_of(from);
  return moved(sizes, one.last.defined() ? channels_to_first(sizes.size()) : kernel_axes(sizes.size(), true));
}

}  // namespace

Value in_file_order(const OnnxValue& value) {
  if (value.first.defined()) return value.first;
  if (value.last.defined()) return permuted_axes(value.last, channels_to_first(value.last.shape().size()));
  return permuted_axes(value.kernel, kernel_axes(value.kernel.shape().size(), true));
}

Shape channels_to_last(std::size_t rank) {
  Shape out{0};
  for (std::size_t i = 2; i < rank; ++i) out.push_back(static_cast<std::int64_t>(i));
  if (rank > 1) out.push_back(1);
  return out;
}

Shape channels_to_first(std::size_t rank) { return inverse_permutation(channels_to_last(rank)); }

std::int64_t axis_with_channels_last(std::int64_t axis, std::size_t rank) {
  return axis == 0 ? 0 : axis == 1 ? static_cast<std::int64_t>(rank) - 1 : axis - 1;
}

Value permuted_axes(const Value& x, const Shape& permutation) {
  const Shape shape = sizes_of(x);
  Shape order;  // of the axes that have more than one element
  for (const auto axis : permutation) {
    if (shape[static_cast<std::size_t>(axis)] != 1) order.push_back(axis);
  }
  const bool open = std::count_if(shape.begin(), shape.end(), [](std::int64_t size) { return size < 0; }) > 1;
  if (open || !std::is_sorted(order.begin(), order.end())) return transpose(x, permutation);
  return std::is_sorted(permutation.begin(), permutation.end()) ? x : reshape(x, moved(shape, permutation));
}

Tensor int64_vector(const std::vector<std::int64_t>& numbers) {
  return Tensor({static_cast<std::int64_t>(numbers.size())}, numbers);
}

std::int64_t product_of(const Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t out = 1;
  for (std::size_t i = begin; i < end; ++i) out = out < 0 || shape[i] < 0 ? -1 : out * shape[i];
  return out;
}

void check_onnx_size(const OnnxCall& call, const Shape& shape) {
  const std::int64_t most = call.folding() ? std::int64_t{1} << 24 : std::int64_t{1} << 31;
  double elements = 1;
  for (const auto size : shape) {
    if (size < 0) call.refuse("sizes must not be negative; got {}", size);
    elements *= static_cast<double>(size);
  }
  if (elements > static_cast<double>(most))
    call.refuse("an array must have at most {} elements; got shape {}", most, shape);
}

OnnxCall::OnnxCall(const OnnxNode& node, std::int64_t opset, std::vector<OnnxValue*> inputs, bool folding)
    : node_(node), opset_(opset), inputs_(std::move(inputs)), folding_(folding), outputs_(node.outputs.size()) {}

std::string OnnxCall::where() const { return current_label(node_.op); }

const OnnxValue& OnnxCall::value(std::size_t i) const {
  if (!has(i)) refuse("input {} is required; it is absent", i);
  return *inputs_[i];
}

Value OnnxCall::entering(const Value& value, bool constant) const {
  return constant && !folding_ && is_floating(value.dtype()) ? value.across_border() : value;
}

Value OnnxCall::in(std::size_t i) const {
  static_cast<void>(value(i));
  OnnxValue& one = *inputs_[i];
  if (!one.first.defined()) one.first = in_file_order(one);
  return entering(one.first, one.constant);
}

Value OnnxCall::in_last(std::size_t i) const {
  static_cast<void>(value(i));
  OnnxValue& one = *inputs_[i];
  if (!one.last.defined()) {
    const Value plain = in(i);
    const std::size_t rank = plain.shape().size();
    if (rank < 3) return plain;
    std::optional<OutsideTrace> at_once;
    if (one.constant && !one.first.node()) at_once.emplace();
    one.last = permuted_axes(one.first, channels_to_last(rank));
  }
  return entering(one.last, one.constant);
}

Value OnnxCall::in_kernel(std::size_t i) const {
  static_cast<void>(value(i));
  OnnxValue& one = *inputs_[i];
  if (!one.kernel.defined()) {
    const Value plain = in(i);
    if (plain.shape().size() < 3) refuse("kernel must have at least 3 axes; got shape {}", shape(i));
    one.kernel = transpose(one.first, kernel_axes(plain.shape().size(), false));
  }
  return entering(one.kernel, one.constant);
}

bool OnnxCall::is_number(std::size_t i) const {
  const OnnxValue& one = value(i);
  return !folding_ && one.constant && one.first.defined() && !one.first.node() &&
         element_count(sizes_of(one.first)) == 1 && one.first.dtype() != DType::boolean;
}

Value OnnxCall::in_number(std::size_t i) const {
  if (!is_number(i)) return in(i);
  const double number = inputs_[i]->first.tensor().item();
  if (is_floating(inputs_[i]->first.dtype())) return number;
  return static_cast<std::int64_t>(number);
}

bool OnnxCall::has_last(std::size_t i) const {
  return has(i) && inputs_[i]->last.defined() && !inputs_[i]->first.defined();
}

Shape OnnxCall::shape(std::size_t i) const { return shape_of(value(i)); }

Shape OnnxCall::output_shape() const { return shape_of(outputs_.at(0)); }

DType OnnxCall::dtype(std::size_t i) const {
  const OnnxValue& one = value(i);
  return (one.first.defined() ? one.first : one.last.defined() ? one.last : one.kernel).dtype();
}

Tensor OnnxCall::numbers(std::size_t i, const char* name) const {
  const Value x = in(i);
  if (x.node()) {
    refuse("{} must be a constant, or follow from shapes; got one that depends on the numbers of the batch", name);
  }
  return x.tensor();
}

std::vector<std::int64_t> OnnxCall::ints(std::size_t i, const char* name) const {
  const Tensor numbers = this->numbers(i, name);
  if (numbers.shape().size() > 1 || is_floating(numbers.dtype())) {
    refuse("{} must be integers along one axis; got {}", name, numbers);
  }
  const Tensor wide = numbers.cast(DType::int64);
  return {wide.data<std::int64_t>(), wide.data<std::int64_t>() + wide.size()};
}

std::int64_t OnnxCall::one_int(std::size_t i, const char* name) const {
  const Tensor number = numbers(i, name);
  if (number.size() != 1) refuse("{} must be one number; got {}", name, number);
  const Tensor wide = number.cast(DType::int64);
  return wide.data<std::int64_t>()[0];
}

double OnnxCall::one_number(std::size_t i, const char* name) const {
  const Tensor number = numbers(i, name);
  if (number.size() != 1) refuse("{} must be one number; got {}", name, number);
  return number.item();
}

void OnnxCall::put(const Value& value, std::size_t i) {
  outputs_.at(i) = {};
  outputs_[i].first = value;
}

void OnnxCall::put_last(const Value& value) {
  if (value.shape().size() < 3) return put(value);
  outputs_.at(0) = {};
  outputs_[0].last = value;
}

void OnnxCall::elementwise(const std::function<Value(const std::vector<Value>&)>& f) {
  std::size_t most = 0, of_arrays = 0;
  bool last = false, fits = true;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    most = std::max(most, rank(i));
    if (!is_number(i)) of_arrays = std::max(of_arrays, rank(i));
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    last = last || has_last(i);
    fits = fits && (!has_last(i) || rank(i) == most);
  }
  last = last && fits;
  std::vector<Value> xs;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Shape sizes = shape(i);
    if (is_number(i) && sizes.size() <= of_arrays) {
      xs.push_back(in_number(i));
    } else if (!last) {
      xs.push_back(in(i));
    } else if (sizes.size() == most) {
      xs.push_back(in_last(i));
    } else {
      Shape full(most - sizes.size(), 1);
      full.insert(full.end(), sizes.begin(), sizes.end());
      xs.push_back(permuted_axes(reshape(in(i), full), channels_to_last(most)));
    }
  }
  if (last) return put_last(f(xs));
  put(f(xs));
}

}  // namespace mezzo::detail
