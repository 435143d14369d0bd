#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <mezzo/core/dtype.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo::detail {

struct ExportBody;

/// An attribute of an ONNX node.
struct ExportAttribute {
  using Value = std::variant<std::int64_t, double, std::string, Shape, std::vector<double>, std::vector<std::string>,
                             DType, std::shared_ptr<const ExportBody>>;
  ExportAttribute(std::string key, int number) : name(std::move(key)), value(std::int64_t{number}) {}
  ExportAttribute(std::string key, const char* text) : name(std::move(key)), value(std::string(text)) {}
  template <class T>
  ExportAttribute(std::string key, T content) : name(std::move(key)), value(std::move(content)) {}

  std::string name;
  Value value;
};
using ExportAttributes = std::vector<ExportAttribute>;

/// Names of values of an ONNX graph.
using ExportNames = std::vector<std::string>;

/// A node of an ONNX graph.
struct ExportNode {
  std::string op;
  ExportNames inputs, outputs;
  ExportAttributes attributes{};
};

/// The graph of one iteration of a Scan, which also reads values of the graph around it.
struct ExportBody {
  struct Port {
    std::string name;
    DType dtype = DType::float32;
    std::size_t rank = 0;
  };
  std::vector<ExportNode> nodes;
  std::vector<Port> inputs, outputs;
};

/// Calls `visit` for the nodes of the bodies that a node has.
void visit_bodies(const ExportNode& node, const std::function<void(const ExportNode&)>& visit);

/// An ONNX graph that is being made: nodes in order, and arrays that it holds.
class ExportGraph {
 public:
  /// `wide`: bfloat16 and float16 become float32.
  ExportGraph(int opset, bool wide) : opset_(opset), wide_(wide) {}

  int opset() const { return opset_; }

  /// Dtype in the graph of values of this dtype in the model.
  DType written(DType dtype) const;

  /// Start of the names of the following nodes.
  void set_path(const std::string& path) { path_ = path; }

  /// Reserves a name for an input or output of the graph.
  void reserve(const std::string& name) { used_.insert(name); }

  /// Declares a value that no node makes.
  void declare(const std::string& name, DType dtype) { dtypes_[name] = dtype; }

  DType dtype(const std::string& name) const;

  /// Adds a node and returns its only output. Its dtype is that of the first input unless the operator has another.
  /// An operator that doesn't take bfloat16 computes in float32, and its output is rounded.
  std::string add(const std::string& op, const ExportNames& inputs, const ExportAttributes& attributes = {});

  /// The same for an output of a dtype of its own.
  std::string add_as(DType dtype, const std::string& op, const ExportNames& inputs,
                     const ExportAttributes& attributes = {});

  /// The same for several outputs, with their dtypes.
  ExportNames add_many(const std::string& op, const ExportNames& inputs, const ExportAttributes& attributes,
                       const std::vector<DType>& dtypes);

  /// x as a value of that dtype; x itself if it has it.
  std::string cast(const std::string& x, DType dtype);

  /// Arrays in the graph. Equal small ones are shared.
  std::string constant(const Tensor& value);
  std::string scalar(double value, DType dtype) { return constant(Tensor::scalar(value, dtype)); }
  std::string ints(const Shape& numbers) {
    return constant(Tensor({static_cast<std::int64_t>(numbers.size())}, numbers));
  }

  /// An array of that name. A name in use gets a number.
  std::string weight(const std::string& name, const Tensor& value);

  /// Array of that name, or null.
  const Tensor* array(const std::string& name) const;

  /// Declares an array of int8 codes in [-8, 7], which the file holds as INT4 if it is read as such.
  void mark_int4(const std::string& name) { int4_.insert(name); }
  bool is_int4(const std::string& name) const { return int4_.count(name) != 0; }

  /// Removes the arrays with other names than these.
  void keep_arrays(const std::set<std::string>& names);

  /// Starts the body of a Scan: following nodes belong to it. finish_body() returns its nodes.
  void start_body() { outer_.push_back(std::exchange(nodes, {})); }
  std::vector<ExportNode> finish_body();

  /// A new name.
  std::string unique(const std::string& name);

  std::vector<ExportNode> nodes;
  std::vector<std::pair<std::string, Tensor>> arrays;  ///< in the order in which they were added

 private:
  ExportNames narrow_to_float32(const std::string& op, const ExportNames& inputs);

  int opset_;
  bool wide_;
  std::string path_;
  std::set<std::string> used_, int4_;
  std::unordered_map<std::string, DType> dtypes_;
  std::map<std::string, std::string> shared_;  // constants by content
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::vector<ExportNode>> outer_;
};

}  // namespace mezzo::detail
