#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/variable.hpp>
#include <mezzo/onnx/import_graph.hpp>

namespace mezzo::detail {

/// Value of a graph, with its axes in one or several orders.
struct OnnxValue {
  Value first{};                       ///< the file's order; of images (N, C, spatial axes...)
  Value last{};                        ///< (N, spatial axes..., C)
  Value kernel{};                      ///< a kernel (F, C, spatial axes...) as (spatial axes..., C, F)
  bool constant = false;               ///< the same in each call
  const Variable* variable = nullptr;  ///< the variable that it is
};

/// One call of an operator: its inputs, attributes and outputs.
class OnnxCall {
 public:
  OnnxCall(const OnnxNode& node, std::int64_t opset, std::vector<OnnxValue*> inputs, bool folding);

  const OnnxNode& node() const { return node_; }
  /// True if the result is computed at once, as a constant.
  bool folding() const { return folding_; }
  std::int64_t opset() const { return opset_; }

  /// Start of errors: `[Conv "conv1"]`.
  std::string where() const;

  template <class... Arguments>
  [[noreturn]] void refuse(fmt::format_string<Arguments...> message, Arguments&&... arguments) const {
    mezzo::fail<ValueError>(where(), message, std::forward<Arguments>(arguments)...);
  }

  /// @name Inputs
  /// @{
  std::size_t input_count() const { return inputs_.size(); }
  bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
  /// Input in the file's order of axes. A ValueError if it is absent.
  Value in(std::size_t i) const;
  /// Input of rank 3 or more with the channels last; of a lower rank as it is.
  Value in_last(std::size_t i) const;
  /// Kernel of a convolution as (spatial axes..., C, F).
  Value in_kernel(std::size_t i) const;
  /// True for a constant of one element, other than a bool.
  bool is_number(std::size_t i) const;
  /// The input; a C++ number if is_number(): that takes the dtype of other operands.
  Value in_number(std::size_t i) const;
  /// True if the input exists with the channels last, and not in the file's order.
  bool has_last(std::size_t i) const;
  bool constant(std::size_t i) const { return value(i).constant; }
  /// The input in all orders of axes that it has.
  const OnnxValue& value_of(std::size_t i) const { return value(i); }
  const Variable* variable(std::size_t i) const { return value(i).variable; }
  /// Shape in the file's order of axes.
  Shape shape(std::size_t i) const;
  std::size_t rank(std::size_t i) const { return shape(i).size(); }
  DType dtype(std::size_t i) const;
  /// Numbers of an input. A ValueError if they depend on a batch and are not known yet.
  Tensor numbers(std::size_t i, const char* name) const;
  std::vector<std::int64_t> ints(std::size_t i, const char* name) const;
  std::int64_t one_int(std::size_t i, const char* name) const;
  double one_number(std::size_t i, const char* name) const;
  /// @}

  /// @name Attributes
  /// A ValueError for an attribute of another type.
  /// @{
  bool has_attribute(const char* name);
  std::int64_t integer(const char* name, std::int64_t otherwise);
  double number(const char* name, double otherwise);
  std::string text(const char* name, const char* otherwise);
  std::vector<std::int64_t> integers(const char* name);
  std::vector<double> numbers_of(const char* name);
  std::vector<std::string> texts(const char* name);
  std::optional<Tensor> tensor(const char* name);
  std::shared_ptr<const OnnxBody> body(const char* name);
  /// Marks an attribute without a meaning for the result as read.
  void ignore(const char* name) { read_.insert(name); }
  /// Numbers of an attribute, or of an input if the opset is `since` or later; none if it is absent.
  std::optional<std::vector<std::int64_t>> ints_of(const char* name, std::size_t input, std::int64_t since);
  /// Axis of an attribute, counted from the front.
  std::int64_t axis(const char* name, std::int64_t otherwise, std::size_t rank);
  /// A ValueError for an attribute that was not read.
  void check_all_read() const;
  /// @}

  /// @name Outputs
  /// @{
  bool wants(std::size_t i) const { return i < node_.outputs.size() && node_.outputs[i] != OnnxNode::absent; }
  void put(const Value& value, std::size_t i = 0);
  /// A result with the channels last; of rank 2 or less it has one order.
  void put_last(const Value& value);
  void put(const OnnxValue& value, std::size_t i = 0) { outputs_.at(i) = value; }
  std::vector<OnnxValue>& outputs() { return outputs_; }
  /// Shape of output 0 in the file's order of axes.
  Shape output_shape() const;
  /// @}

  /// Puts f(inputs) of a function that computes element by element, in the order of axes that the inputs have.
  void elementwise(const std::function<Value(const std::vector<Value>&)>& f);

  /// Runs a body with these inputs and returns its outputs. `apart`: in a trace of its own, whose values nothing
  /// outside reads. Set by the caller of the operator.
  std::function<std::vector<OnnxValue>(const OnnxBody&, const std::vector<OnnxValue>& inputs, bool apart)> run_body;

 private:
  const OnnxValue& value(std::size_t i) const;
  const OnnxAttribute* find(const char* name);
  Value entering(const Value& value, bool constant) const;

  const OnnxNode& node_;
  std::int64_t opset_;
  std::vector<OnnxValue*> inputs_;
  bool folding_;
  std::vector<OnnxValue> outputs_;
  std::set<std::string> read_;
};

/// The value in the file's order of axes.
Value in_file_order(const OnnxValue& value);

/// Permutations of images: channels to the last axis, and back.
Shape channels_to_last(std::size_t rank);
Shape channels_to_first(std::size_t rank);

/// Axis of an image with the channels last for an axis in the file's order.
std::int64_t axis_with_channels_last(std::int64_t axis, std::size_t rank);

/// x with its axes permuted; a reshape if only axes of size 1 move.
Value permuted_axes(const Value& x, const Shape& permutation);

/// A Tensor of int64 numbers along one axis.
Tensor int64_vector(const std::vector<std::int64_t>& numbers);

/// Product of sizes [begin, end).
std::int64_t product_of(const Shape& shape, std::size_t begin, std::size_t end);

/// Throws a ValueError if an operator would make an array of more than 2^31 elements, or a constant of more than 2^24.
void check_onnx_size(const OnnxCall& call, const Shape& shape);

}  // namespace mezzo::detail
