#pragma once
#include <memory>
#include <string>
#include <vector>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/compiler/kernel.hpp>
#include <mezzo/core/isa.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::xsimd_kernels {

/// The kernel of a request on an ISA, or null and why not.
using Make = std::unique_ptr<Kernel> (*)(const KernelRequest& request, Isa isa, std::string& reason);

/// An op's kernel: on any ISA, and as Implementation has it, on that of this machine.
struct Entry {
  const char* op;
  Make make;
  decltype(Implementation::create) create;
};
using Entries = std::vector<Entry>;

template <Make make>
Entry entry(const char* op) {
  return {op, make, [](const KernelRequest& request, std::string& reason) { return make(request, isa(), reason); }};
}

/// The kernels of each family, defined in its file.
Entries attention_entries();
Entries avg_pool_entries();
Entries batch_norm_entries();
Entries bias_gradient_entries();
Entries cast_entries();
Entries crossentropy_entries();
Entries dropout_entries();
Entries elementwise_entries();
Entries finite_entries();
Entries layer_norm_entries();
Entries max_pool_entries();
Entries reduce_entries();
Entries softmax_entries();
Entries split_master_entries();
Entries update_entries();
Entries winograd_entries();
Entries winograd_gradient_entries();

/// Whether a PerStorage has an entry for this dtype, and where.
inline bool is_stored(DType dtype) {
  return dtype == DType::float32 || dtype == DType::bfloat16 || dtype == DType::float16;
}
inline std::size_t storage_of(DType dtype) { return dtype == DType::float32 ? 0 : dtype == DType::bfloat16 ? 1 : 2; }

inline std::int64_t size_of(DType dtype) { return static_cast<std::int64_t>(dtype_size(dtype)); }

inline std::unique_ptr<Kernel> decline_dtype(std::string& reason, DType dtype) {
  return decline(reason, "not for {}", dtype);
}

/// Splits [0, count) over the threads at multiples of a cache line of elements of any dtype.
template <class Body>
void parallel_elements(std::int64_t count, const Body& body) {
  constexpr std::int64_t line = 64;
  parallel_for((count + line - 1) / line, grain / line, [&](std::int64_t begin, std::int64_t end) {
    body(begin * line, end * line < count ? end * line : count);
  });
}

}  // namespace mezzo::xsimd_kernels
