#pragma once
#include <string>
#include <vector>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo::detail {

/// A weight as weight files have it.
struct FileWeight {
  std::vector<std::string> names;  ///< the one that is written; then others under which a file may hold it
  Variable variable;
  Shape axes;    ///< the variable's, in the file's order
  Shape merged;  ///< the shape in the file where it merges axes, else {}

  const std::string& name() const { return names.front(); }
  Shape shape() const { return merged.empty() ? permuted_shape() : merged; }
  /// The variable's shape, its axes in the file's order.
  Shape permuted_shape() const;

  /// Numbers of the variable's shape in the file's layout, and back.
  Tensor in_file(const Tensor& numbers) const;
  Tensor from_file(const Tensor& numbers) const;
};

/// The dtype in which files keep numbers of that dtype, unless asked otherwise: floats as float32, or float64.
inline DType file_dtype(DType dtype) { return is_floating(dtype) ? accumulation_dtype(dtype) : dtype; }

/// What is wrong with a tensor of a file as numbers of that dtype or shape, in a few words; "" if nothing is.
std::string dtype_fault(const SafetensorsFile::Entry& entry, DType dtype);
std::string shape_fault(const SafetensorsFile::Entry& entry, const Shape& shape);

/// What does not fit, in one line.
class Findings {
 public:
  void add(const std::string& text) { text_ += (text_.empty() || text.empty() ? "" : "; ") + text; }
  bool any() const { return !text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct FileWeights {
  std::vector<FileWeight> weights;   ///< each variable once
  std::vector<std::string> skipped;  ///< names of tensors that are no weights, but may be there
};

/// What weight files have of a layer: by its own and its sub-layers' declarations.
FileWeights file_weights(const LayerState& layer);

}  // namespace mezzo::detail
