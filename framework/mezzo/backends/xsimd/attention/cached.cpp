#include <mezzo/backends/common/cached_attention_shape.hpp>
#include <mezzo/backends/xsimd/attention/attention.hpp>
#include <mezzo/backends/xsimd/attention/heads.hpp>
#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {

std::unique_ptr<Kernel> make_cached_attention(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  using Index = std::int64_t;
  const CachedAttentionShape shape(request);
  const Index width = round_up(shape.capacity + 1, 16);  // of the scores of a head
  const auto run = [shape, width, bytes = size_of(dtype),
                    attend = kernels(isa).attention.attend[dtype]](const KernelArguments& arguments) {
    const Index filled = shape.filled(arguments);
    const Index work = (filled + 1) * (shape.size + shape.value_size);
    parallel_for(shape.batch * shape.heads, grain_of(work), [&](Index begin, Index end) {
      for (Index head = begin; head < end; ++head) {
        const Index group = shape.group(head);
        attend({.query = arguments.in<char>(0) + head * shape.size * bytes,
                .key = arguments.in<char>(1) + group * shape.size * bytes,
                .value = arguments.in<char>(2) + group * shape.value_size * bytes,
                .keys = arguments.in<char>(3) + group * shape.capacity * shape.size * bytes,
                .values = arguments.in<char>(4) + group * shape.capacity * shape.value_size * bytes,
                .filled = filled,
                .size = shape.size,
                .value_size = shape.value_size,
                .scale = static_cast<float>(shape.scale),
                .scores = static_cast<float*>(arguments.scratch) + head * width,
                .out = arguments.out<char>(0) + head * shape.value_size * bytes});
      }
    });
  };
  return make_kernel(run, {}, static_cast<std::size_t>(shape.batch * shape.heads * width) * sizeof(float));
}

}  // namespace mezzo::xsimd_kernels
