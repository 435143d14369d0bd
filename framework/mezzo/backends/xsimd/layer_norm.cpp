#include <mezzo/backends/xsimd/layer_norm.hpp>

#include <algorithm>

#include <mezzo/backends/xsimd/channels.hpp>
#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// x as rows; the elements of a row are normalized together.
Channels rows_of(const Spec& x, const Spec& gamma) {
  const Index columns = element_count(gamma.shape);
  return Channels({{columns == 0 ? 0 : element_count(x.shape) / columns, columns}, x.dtype});
}

std::unique_ptr<Kernel> make_layer_norm(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const Channels r = rows_of(request.inputs[0], request.inputs[1]);
  const auto run = [r, normalize = kernels(isa).layer_norm.normalize[dtype],
                    epsilon = request.attributes.get<double>("epsilon")](const KernelArguments& arguments) {
    parallel_for(r.rows, grain_of(r.columns), [&](Index begin, Index end) {
      const Index at = begin * r.columns * r.size;
      normalize(arguments.in<char>(0) + at, arguments.in<float>(1), arguments.in<float>(2), arguments.out<char>(0) + at,
                arguments.out<float>(1) + begin, arguments.out<float>(2) + begin, epsilon, end - begin, r.columns);
    });
  };
  return make_kernel(run, {true});
}

std::unique_ptr<Kernel> make_layer_norm_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[1].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const Channels r = rows_of(request.inputs[1], request.inputs[2]);
  const auto run = [r, gradient = kernels(isa).layer_norm.gradient[dtype]](const KernelArguments& arguments) {
    auto* dgamma = static_cast<double*>(arguments.scratch);
    double* dbeta = dgamma + r.doubles();
    auto* partial = reinterpret_cast<float*>(dbeta + r.doubles());
    std::fill_n(dgamma, r.columns, 0.0);
    std::fill_n(dbeta, r.columns, 0.0);
    r.for_blocks([&](Index offset, Index rows, Index place) {
      const Index row = offset / (r.columns * r.size);
      gradient(arguments.in<char>(0) + offset, arguments.in<char>(1) + offset, arguments.in<float>(2),
               arguments.in<float>(3) + row, arguments.in<float>(4) + row, arguments.out<char>(0) + offset,
               dgamma + place, dbeta + place, partial + 2 * place, rows, r.columns);
    });
    r.add_blocks(dgamma);
    r.add_blocks(dbeta);
    std::copy_n(dgamma, r.columns, arguments.out<float>(1));
    std::copy_n(dbeta, r.columns, arguments.out<float>(2));
  };
  return make_kernel(run, {true, true}, r.doubles() * 2 * (sizeof(double) + sizeof(float)));
}

}  // namespace

Entries layer_norm_entries() {
  return {entry<make_layer_norm>("layer_norm"), entry<make_layer_norm_gradient>("layer_norm_gradient")};
}

}  // namespace mezzo::xsimd_kernels
