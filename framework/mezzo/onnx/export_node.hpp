#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/onnx/export_graph.hpp>
#include <mezzo/onnx/export_sizes.hpp>
#include <mezzo/onnx/export_traces.hpp>

namespace mezzo::detail {

/// A node of the model while it is written as ONNX nodes.
struct ExportedNode {
  ExportGraph& graph;
  ExportSizes& sizes;
  const TracedNode& traced;
  ExportNames inputs;                                ///< names of the operands
  std::vector<TracedShape> shapes;                   ///< of the operands
  std::vector<TracedShape> results;                  ///< shapes of the outputs
  std::vector<bool> used;                            ///< for each output: true if it is read
  std::function<std::string(const Value&)> name_of;  ///< name of an earlier value of the first trace

  const Node& node() const { return *traced.front(); }
  const std::string& where() const { return node().where; }
  const std::string& in(std::size_t i = 0) const { return inputs.at(i); }
  std::size_t rank(std::size_t i = 0) const { return shapes.at(i).size(); }

  /// Dtype in the graph of an operand or output.
  DType dtype(std::size_t i = 0) const { return graph.dtype(in(i)); }
  DType result_dtype(std::size_t i = 0) const { return graph.written(node().outputs.at(i).dtype); }

  /// Attributes of the node.
  template <class T>
  const T& get(const std::string& name) const {
    return node().attributes.get<T>(name);
  }
  std::int64_t number(const std::string& name) const { return get<std::int64_t>(name); }

  /// An attribute with numbers of all traces.
  TracedShape numbers(const std::string& name) const;

  /// The same. Throws a ValueError if one depends on open sizes.
  Shape fixed(const std::string& name) const;
  /// Sizes of an operand; a ValueError if one is open.
  Shape fixed_shape(std::size_t i = 0) const;

  std::string add(const std::string& op, const ExportNames& operands, const ExportAttributes& attributes = {}) const {
    return graph.add(op, operands, attributes);
  }
  std::string add_as(DType dtype, const std::string& op, const ExportNames& operands,
                     const ExportAttributes& attributes = {}) const {
    return graph.add_as(dtype, op, operands, attributes);
  }

  /// A number of the dtype of a value.
  std::string like(const std::string& value, double number) const { return graph.scalar(number, graph.dtype(value)); }

  /// Axes moved: axis i of the result is axis permutation[i] of x. x itself if none moves.
  std::string transpose(const std::string& x, const Shape& permutation) const;
  std::string unsqueeze(const std::string& x, const Shape& axes) const;
  std::string squeeze(const std::string& x, const Shape& axes) const;
  /// x in a shape, whose open sizes may be computed.
  std::string reshape(const std::string& x, const TracedShape& from, const TracedShape& to) const;
  /// x broadcast to a shape.
  std::string expand(const std::string& x, const TracedShape& from, const TracedShape& to) const;
  /// Reduce operator over axes, whose form depends on the opset.
  std::string reduce(const std::string& op, const std::string& x, const Shape& axes, bool keepdims) const;
  /// Elements from..to along an axis.
  std::string piece(const std::string& x, std::int64_t axis, std::int64_t from, std::int64_t to) const;

  /// y with the node's epilogue, a relu.
  std::string finished(const std::string& y) const;

  /// Throws a ValueError: the op of this node with `what` has no counterpart in ONNX.
  [[noreturn]] void refuse(const std::string& what) const;
};

/// Writes a node and returns its outputs. Names of outputs that nothing reads may be empty.
using ExportRule = ExportNames (*)(const ExportedNode& node);

/// Rules by the names of ops.
using ExportRules = std::map<std::string, ExportRule, std::less<>>;

void add_elementwise_rules(ExportRules& rules);
void add_function_rules(ExportRules& rules);
void add_integer_rules(ExportRules& rules);
void add_shape_rules(ExportRules& rules);
void add_reduction_rules(ExportRules& rules);
void add_index_rules(ExportRules& rules);
void add_window_rules(ExportRules& rules);
void add_product_rules(ExportRules& rules);
void add_norm_rules(ExportRules& rules);
void add_recurrent_rules(ExportRules& rules);
void add_encoding_rules(ExportRules& rules);
void add_quantized_rules(ExportRules& rules);

/// The convolution of images, channels last, with a kernel (kh, kw, C / groups, F) as float arrays. `bias`: "" for
/// none. Sizes, strides and padding are those of the node.
std::string exported_convolution(const ExportedNode& x, const std::string& images, const std::string& kernel,
                                 const std::string& bias);

/// 4-bit codes of int8 numbers, two a byte, for each row of the last axis.
Tensor packed_codes(const Tensor& codes);

/// Array with the packed codes of the first operand, whose rows are gathered.
std::string gathered_codes(const ExportedNode& x);

/// All of them.
const ExportRules& export_rules();

/// True if a constant is the beginning of a table, of positions say, that is longer for larger sizes.
bool has_tables(const ExportTraces& traces);

/// A constant that differs between traces, as nodes. Throws a ValueError for numbers that don't follow from the sizes.
std::string export_open_constant(const TracedNode& node, ExportGraph& graph, ExportSizes& sizes);

}  // namespace mezzo::detail
