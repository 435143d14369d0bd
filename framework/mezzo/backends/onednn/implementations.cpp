#include <mezzo/backends/onednn/implementations.hpp>

#include <mezzo/backends/onednn/bfloat16.hpp>
#include <mezzo/backends/onednn/creators.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

template <onednn::Creator* make>
std::unique_ptr<Kernel> create(const KernelRequest& request, std::string& reason) {
  reason = onednn::prefers_float32(request);
  return reason.empty() ? make(request, reason) : nullptr;
}

std::unique_ptr<Kernel> create_split_matmul(const KernelRequest& request, std::string& reason) {
  reason = onednn::prefers_widening(request, onednn::has_amx_bfloat16());
  return reason.empty() ? onednn::make_split_matmul(request, reason) : nullptr;
}

}  // namespace

std::vector<Implementation> onednn_implementations() {
  return {{"onednn", &ops::matmul, create<onednn::make_matmul>},
          {"split", &ops::matmul, create_split_matmul},
          {"onednn", &ops::conv2d, create<onednn::make_conv2d>},
          {"onednn", &ops::conv2d_input_gradient, create<onednn::make_conv2d_input_gradient>},
          {"onednn", &ops::conv2d_kernel_gradient, create<onednn::make_conv2d_kernel_gradient>}};
}

}  // namespace mezzo
