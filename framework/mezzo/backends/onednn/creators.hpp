#pragma once
#include <memory>
#include <string>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo::onednn {

/// oneDNN's kernel for a request, or null and why there is none; whether it is worthwhile is asked elsewhere.
using Creator = std::unique_ptr<Kernel>(const KernelRequest& request, std::string& reason);

Creator make_matmul;                                                           // matmul
Creator make_split_matmul;                                                     // split_matmul: of float16, in bfloat16
Creator make_conv2d, make_conv2d_input_gradient, make_conv2d_kernel_gradient;  // convolution

/// Whether oneDNN's name of an implementation ("ref:any", "gemm:ref") says that it is one of its plain loops.
bool is_reference(const std::string& implementation);

}  // namespace mezzo::onednn
