#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace mezzo::detail {

class OnnxCall;

/// An operator of ONNX, computed by mezzo's ops.
struct OnnxOperator {
  static constexpr std::size_t any = static_cast<std::size_t>(-1);  ///< any number of inputs

  std::function<void(OnnxCall&)> run;
  std::size_t least = 1, most = 1;  ///< numbers of inputs
  std::size_t outputs = 1;          ///< most outputs
  bool folds = true;                ///< computed at once if all inputs are constants
};

using OnnxOperators = std::map<std::string, OnnxOperator>;

/// The operator of the default domain with that name; null: there is none.
const OnnxOperator* find_onnx_operator(const std::string& name);

/// True if the operator has that attribute here.
bool has_onnx_attribute(const std::string& op, const std::string& attribute);

// One function for each file of operators: adds them to the table.
void add_onnx_activations(OnnxOperators& table);
void add_onnx_constants(OnnxOperators& table);
void add_onnx_convolutions(OnnxOperators& table);
void add_onnx_detection(OnnxOperators& table);
void add_onnx_elementwise(OnnxOperators& table);
void add_onnx_fourier(OnnxOperators& table);
void add_onnx_gathers(OnnxOperators& table);
void add_onnx_integer_products(OnnxOperators& table);
void add_onnx_loops(OnnxOperators& table);
void add_onnx_losses(OnnxOperators& table);
void add_onnx_normalization(OnnxOperators& table);
void add_onnx_pooling(OnnxOperators& table);
void add_onnx_pooling_indices(OnnxOperators& table);
void add_onnx_products(OnnxOperators& table);
void add_onnx_quantization(OnnxOperators& table);
void add_onnx_random(OnnxOperators& table);
void add_onnx_recurrent(OnnxOperators& table);
void add_onnx_reductions(OnnxOperators& table);
void add_onnx_resize(OnnxOperators& table);
void add_onnx_sampling(OnnxOperators& table);
void add_onnx_scatters(OnnxOperators& table);
void add_onnx_shapes(OnnxOperators& table);
void add_onnx_slices(OnnxOperators& table);

}  // namespace mezzo::detail
