#include <mezzo/ops/table.hpp>

#include <unordered_map>

#include <mezzo/core/error.hpp>

namespace mezzo {
namespace {

Op leaf(const char* name) {
  Op op;
  op.name = name;
  return op;
}

}  // namespace

const std::vector<Op>& op_table() {
  using namespace detail;
  static const std::vector<Op> table{
      leaf("constant"), leaf("input"), leaf("runtime"), leaf("variable"),
      // elementwise
      abs_op(), add_op(), cast_op(), divide_op(), dropout_op(), equal_op(), exp_op(), gelu_op(), gelu_gradient_op(),
      identity_op(), log_op(), multiply_op(), negative_op(), relu_op(), relu_gradient_op(), relu_bias_gradient_op(),
      sigmoid_op(), sigmoid_gradient_op(), sign_op(), stop_gradient_op(), subtract_op(), tanh_op(), tanh_gradient_op(),
      where_op(),
      // elementwise too, but for the rule by which op lists take their operands
      bias_add_op(), iadd_op(), imul_op(), isub_op(), itruediv_op(),
      // shapes and reductions
      argmax_op(), broadcast_to_op(), concat_op(), gather_op(), gather_gradient_op(), gather_gradient_rows_op(),
      mean_op(), pad_op(), reshape_op(), slice_op(), split_op(), sum_op(), transpose_op(),
      // matmul, convolution, pooling, normalization, loss
      attention_op(), attention_gradient_op(), avg_pool2d_op(), avg_pool2d_gradient_op(), batch_norm_op(),
      batch_norm_gradient_op(), conv2d_op(), conv2d_input_gradient_op(), conv2d_kernel_gradient_op(), layer_norm_op(),
      layer_norm_gradient_op(), matmul_op(), max_pool2d_op(), max_pool2d_gradient_op(), softmax_op(),
      softmax_gradient_op(), sparse_crossentropy_op(), sparse_crossentropy_gradient_op(),
      // training
      adam_update_op(), all_finite_op(), gradient_multiplier_op(), join_master_op(), sgd_update_op(),
      split_master_op()};
  return table;
}

const Op& find_op(const std::string& name) {
  static const auto* by_name = [] {
    auto* map = new std::unordered_map<std::string, const Op*>;
    for (const Op& op : op_table()) map->emplace(op.name, &op);
    return map;
  }();
  const auto found = by_name->find(name);
  if (found != by_name->end()) return *found->second;
  std::string good;
  for (const Op& op : op_table()) good += (good.empty() ? "" : ", ") + op.name;
  throw NameError("no op \"" + name + "\"; there are: " + good);
}

}  // namespace mezzo
