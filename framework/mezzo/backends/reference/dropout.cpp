#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/random.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::reference {

std::unique_ptr<Kernel> create_dropout(const KernelRequest& request, std::string& reason) {
  const std::int64_t size = element_count(request.outputs[0].shape);
  const double rate = request.attributes.get<double>("rate");
  const auto key = request.attributes.get<std::int64_t>("key");
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [=](const KernelArguments& arguments) {
      const T* x = arguments.in<T>(0);
      T* out = arguments.out<T>(0);
      const std::uint64_t stream = step_stream(key, *arguments.in<double>(1), *arguments.in<double>(2));
      parallel_for((size + 3) / 4, grain / 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t four = begin; four < end; ++four) {
          const auto words = philox(stream, static_cast<std::uint64_t>(four));
          for (std::int64_t i = four * 4; i < four * 4 + 4 && i < size; ++i) {
            const bool kept = unit_float(words[static_cast<std::size_t>(i % 4)]) >= static_cast<float>(rate);
            out[i] = kept ? x[i] / static_cast<T>(1 - rate) : 0;
          }
        }
      });
    };
    return make_kernel(run, like_output(request));
  });
}

}  // namespace mezzo::reference
