#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/io/tensor_entry.hpp>
#include <mezzo/nn/layer_state.hpp>

namespace mezzo::detail {

/// Layout in weight files of the weights of a recurrent cell: LayerState::content of the cell.
struct GateFiles {
  Shape order{};  ///< order in files of the gates, equal blocks of the last axis: {1, 0, 2}; {}: as they are
  /// Names of two tensors in place of the variable "bias": its rows if it has two axes, else two terms of a sum. The
  /// second term is written as zeros.
  std::vector<std::string> bias_parts{};
};

/// LayerState::content of a layer for which the weights of its sub-layers have names of their own in weight files,
/// without the names of the sub-layers: those of a file that it was read from.
struct OwnFileNames {};

/// A weight with its names and layout in weight files.
struct FileWeight {
  std::vector<std::string> names;  ///< the name that is written, then other names that a loaded file may have
  Variable variable;
  Shape axes;                        ///< the variable's axes in the file's order
  Shape merged;                      ///< shape in files that merge axes; {}: axes are not merged
  Shape order{};                     ///< order of equal blocks of the last axis in files; {}: as they are
  std::vector<std::string> parts{};  ///< names of two tensors that weight files have in place of one; {}: one

  const std::string& name() const { return names.front(); }
  Shape shape() const;
  /// Shape of floats for a quantized weight in a file of floating weights; else shape().
  Shape float_shape() const { return merged.empty() ? permuted_shape() : merged; }
  /// True if rounded products with the weight need no range of inputs, for which files of 0.2.0 have a tensor: its name
  /// is that of the weight and `range_suffix`.
  bool needs_no_range() const;
  static constexpr const char* range_suffix = "_inputs_step";
  /// True for codes of 4 bits, which files have as they are stored.
  bool is_packed() const;
  /// Form of the codes of a quantized weight as a text in the metadata of files, and its key there. Forms whose codes
  /// mean the same have one text.
  std::string form_text() const;
  std::string form_key() const { return name() + "_form"; }
  /// Name of the zero points beside scales of that name; "" for another name.
  static std::string zero_beside(const std::string& scale);
  /// The variable's shape with its axes in the file's order.
  Shape permuted_shape() const;

  /// Converts numbers from the variable's layout to the file's.
  Tensor in_file(const Tensor& numbers) const;

  /// Converts numbers from the file's layout to the variable's: floats, or codes as the file has them.
  Tensor from_file(const Tensor& numbers) const;

  /// Shape of each of the two parts.
  Shape part_shape() const { return {shape().back()}; }

  /// Splits numbers in the file's layout into the two parts, and joins them again.
  std::vector<Tensor> split_parts(const Tensor& in_file) const;
  Tensor join_parts(const Tensor& first, const Tensor& second) const;
};

/// Dtype in files of numbers that are `dtype` in memory: float64 for float64, float32 for other floats, else the same.
inline DType file_dtype(DType dtype) { return is_floating(dtype) ? accumulation_dtype(dtype) : dtype; }

/// Error text if a tensor of a file does not fit a weight of that dtype or shape; "" if it fits.
std::string dtype_fault(const TensorEntry& entry, DType dtype);
std::string shape_fault(const TensorEntry& entry, const Shape& shape);

/// List of error texts, joined to one line: the first 20, then the number of the others.
class Findings {
 public:
  /// Adds a text unless it is empty.
  void add(const std::string& text);
  /// Adds all texts of another list.
  void add(const Findings& others);
  bool any() const { return count_ > 0; }
  std::string text() const;

 private:
  std::vector<std::string> texts_;  // the first 20
  std::size_t count_ = 0;
};

/// Contents of a layer's weight files.
struct FileWeights {
  std::vector<FileWeight> weights;   ///< each variable once
  std::vector<std::string> skipped;  ///< names of other tensors that a loaded file may hold
  /// Tensors that a loaded file may hold, each a copy of another tensor.
  std::vector<std::pair<std::string, std::string>> copies;
  std::vector<std::pair<std::string, std::int64_t>> facts;  ///< numbers in the metadata that can't be derived from
                                                            ///< shapes
};

/// Throws a NameError if weights of the layer and its sub-layers have the same name in files: `where` starts it.
void check_weight_names(const LayerState& layer, const std::string& where);

/// Collects the weights of a layer and its sub-layers, with the layouts and rules that they declare.
FileWeights file_weights(const LayerState& layer);

}  // namespace mezzo::detail
