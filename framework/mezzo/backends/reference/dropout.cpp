#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/random.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::reference {

std::unique_ptr<Kernel> create_dropout(const KernelRequest& request, std::string& reason) {
  const std::int64_t size = element_count(request.outputs[0].shape);
  const bool counts = request.inputs.size() > 3;  // from another element than the first
  const double rate = request.attributes.get<double>("rate");
  const auto key = request.attributes.get<std::int64_t>("key");
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [=](const KernelArguments& arguments) {
      const T* x = arguments.in<T>(0);
      T* out = arguments.out<T>(0);
      const std::uint64_t stream = step_stream(key, *arguments.in<double>(1), *arguments.in<double>(2));
      const auto first = counts ? static_cast<std::int64_t>(*arguments.in<double>(3)) : 0;
      const std::int64_t four = first / 4;  // first group of words
      parallel_for((first + size + 3) / 4 - four, grain / 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t group = four + begin; group < four + end; ++group) {
          const auto words = philox(stream, static_cast<std::uint64_t>(group));
          for (std::int64_t word = 0; word < 4; ++word) {
            const std::int64_t i = group * 4 + word - first;
            if (i < 0 || i >= size) continue;
            const bool kept = unit_float(words[static_cast<std::size_t>(word)]) >= static_cast<float>(rate);
            out[i] = kept ? x[i] / static_cast<T>(1 - rate) : 0;
          }
        }
      });
    };
    return make_kernel(run, like_output(request));
  });
}

}  // namespace mezzo::reference
