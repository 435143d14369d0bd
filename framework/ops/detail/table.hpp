#pragma once
#include <mezzo/graph/op.hpp>

namespace mezzo::detail {

Op abs_op();
Op adam_update_op();
Op add_op();
Op all_finite_op();
Op argmax_op();
Op batch_norm_op();
Op batch_norm_gradient_op();
Op broadcast_to_op();
Op cast_op();
Op conv2d_op();
Op conv2d_input_gradient_op();
Op conv2d_kernel_gradient_op();
Op divide_op();
Op dropout_op();
Op equal_op();
Op exp_op();
Op gelu_op();
Op gelu_gradient_op();
Op gradient_multiplier_op();
Op identity_op();
Op layer_norm_op();
Op layer_norm_gradient_op();
Op log_op();
Op matmul_op();
Op max_pool2d_op();
Op max_pool2d_gradient_op();
Op mean_op();
Op multiply_op();
Op negative_op();
Op relu_op();
Op relu_bias_gradient_op();
Op relu_gradient_op();
Op reshape_op();
Op sgd_update_op();
Op sigmoid_op();
Op sigmoid_gradient_op();
Op sign_op();
Op softmax_op();
Op softmax_gradient_op();
Op sparse_crossentropy_op();
Op sparse_crossentropy_gradient_op();
Op stop_gradient_op();
Op subtract_op();
Op sum_op();
Op tanh_op();
Op tanh_gradient_op();
Op transpose_op();

}  // namespace mezzo::detail
