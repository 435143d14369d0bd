#pragma once
#include <memory>
#include <string>

#include <mezzo/compiler/kernel.hpp>

// Creators of the reference kernels, one for each op. Each is defined in the file that stands beside it.
namespace mezzo::reference {

using Creator = std::unique_ptr<Kernel>(const KernelRequest& request, std::string& reason);

Creator create_add, create_subtract, create_multiply, create_divide, create_equal;          // arithmetic
Creator create_relu, create_exp, create_log, create_negative, create_abs, create_sign;      // elementwise
Creator create_relu_bias_gradient;                                                          // elementwise
Creator create_relu_gradient;                                                               // elementwise
Creator create_tanh, create_tanh_gradient, create_sigmoid, create_sigmoid_gradient;         // activations
Creator create_gelu, create_gelu_gradient;                                                  // activations
Creator create_scaled_dot_product_attention, create_scaled_dot_product_attention_gradient;  // attention
Creator create_softmax, create_softmax_gradient;                                            // softmax
Creator create_layer_norm, create_layer_norm_gradient;                                      // layer_norm
Creator create_cast, create_transpose, create_broadcast_to;                                 // movement
Creator create_reshape, create_identity, create_stop_gradient;                              // movement
Creator create_sum, create_mean, create_argmax;                                             // reduce
Creator create_matmul;                                                                      // matmul
Creator create_conv2d, create_conv2d_input_gradient, create_conv2d_kernel_gradient;         // conv2d
Creator create_gather, create_gather_gradient, create_gather_gradient_rows;                 // gather
Creator create_concat, create_pad, create_slice, create_split;                              // blocks
Creator create_where;                                                                       // where
Creator create_avg_pool2d, create_avg_pool2d_gradient;                                      // avg_pool2d
Creator create_max_pool2d, create_max_pool2d_gradient;                                      // max_pool2d
Creator create_batch_norm, create_batch_norm_gradient;                                      // batch_norm
Creator create_dropout;                                                                     // dropout
Creator create_sparse_categorical_crossentropy,
    create_sparse_categorical_crossentropy_gradient;                                     // crossentropy
Creator create_all_finite, create_gradient_multiplier;                                   // finite
Creator create_sgd_update, create_adam_update, create_join_master, create_split_master;  // updates

}  // namespace mezzo::reference
