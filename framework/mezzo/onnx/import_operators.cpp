#include <mezzo/onnx/import_operators.hpp>

namespace mezzo::detail {

const OnnxOperator* find_onnx_operator(const std::string& name) {
  static const auto* const table = [] {
    auto* all = new OnnxOperators;
    add_onnx_activations(*all);
    add_onnx_constants(*all);
    add_onnx_convolutions(*all);
    add_onnx_detection(*all);
    add_onnx_elementwise(*all);
    add_onnx_fourier(*all);
    add_onnx_gathers(*all);
    add_onnx_integer_products(*all);
    add_onnx_loops(*all);
    add_onnx_losses(*all);
    add_onnx_normalization(*all);
    add_onnx_pooling(*all);
    add_onnx_pooling_indices(*all);
    add_onnx_products(*all);
    add_onnx_quantization(*all);
    add_onnx_random(*all);
    add_onnx_recurrent(*all);
    add_onnx_reductions(*all);
    add_onnx_resize(*all);
    add_onnx_sampling(*all);
    add_onnx_scatters(*all);
    add_onnx_shapes(*all);
    add_onnx_slices(*all);
    return all;
  }();
  const auto found = table->find(name);
  return found == table->end() ? nullptr : &found->second;
}

}  // namespace mezzo::detail
