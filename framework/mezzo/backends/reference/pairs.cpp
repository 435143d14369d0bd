#include <mezzo/backends/reference/pairs.hpp>

#include <utility>

#include <mezzo/backends/common/walk.hpp>

namespace mezzo::reference {

std::unique_ptr<Kernel> pair_kernel(const KernelRequest& request, PairLoop loop) {
  const Shape& shape = request.outputs[0].shape;
  const Walk walk(shape, {broadcast_strides(request.inputs[0].shape, shape),  //
                          broadcast_strides(request.inputs[1].shape, shape)});
  const auto bytes = static_cast<std::int64_t>(dtype_size(request.inputs[0].dtype));
  const auto out_bytes = static_cast<std::int64_t>(dtype_size(request.outputs[0].dtype));
  const auto run = [walk, bytes, out_bytes, loop](const KernelArguments& arguments) {
    const auto* a = arguments.in<unsigned char>(0);
    const auto* b = arguments.in<unsigned char>(1);
    parallel_for(walk.size(), grain, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t a_step = walk.step(0), b_step = walk.step(1);
      walk.pieces(begin, end, [&](std::int64_t i, std::int64_t count, std::int64_t line, std::int64_t column) {
        loop(a + (walk.offset(0, line) + column * a_step) * bytes, a_step,
             b + (walk.offset(1, line) + column * b_step) * bytes, b_step,
             arguments.out<unsigned char>(0) + i * out_bytes, count);
      });
    });
  };
  const bool same_dtype = request.inputs[0].dtype == request.outputs[0].dtype;
  return make_kernel(run, same_dtype ? like_output(request) : std::vector<bool>{});
}

}  // namespace mezzo::reference
