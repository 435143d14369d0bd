#include <mezzo/backends/xsimd/norm_gradient.hpp>

#include <algorithm>

namespace mezzo::xsimd_kernels {
namespace {

/// The operands some bytes further on.
NormCotangent advanced(NormCotangent of, std::int64_t bytes) {
  for (const void** p : {&of.g, &of.x, &of.y}) {
    if (*p != nullptr) *p = static_cast<const char*>(*p) + bytes;
  }
  return of;
}

}  // namespace

NormGradient::NormGradient(const KernelRequest& request, Isa isa, ScratchLayout& layout)
    : dtype_(request.inputs[1].dtype),
      training_(request.attributes.get<bool>("training")),
      masks_(request.inputs.size() > 5),
      again_(request.attributes.get_or("shift", false)),
      limits_(request, has_relu(request)),
      functions_(kernels(isa).batch_norm),
      channels_(request.inputs[1]),
      sums_(layout.take(channels_.doubles() * sizeof(double))),
      products_(layout.take(channels_.doubles() * sizeof(double))),
      factors_(layout.take(channels_.floats(3) * sizeof(float))) {}

NormGradient::Prepared NormGradient::prepare(const KernelArguments& arguments, float* dgamma, float* dbeta,
                                             char* masked) const {
  const std::int64_t columns = channels_.columns;
  auto* const scratch = static_cast<char*>(arguments.scratch);
  auto *const sums = reinterpret_cast<double*>(scratch + sums_), *const products =
                                                                     reinterpret_cast<double*>(scratch + products_);
  auto* const from_g = reinterpret_cast<float*>(scratch + factors_);
  float *const from_x = from_g + columns, *const add = from_x + columns;
  const float *gamma = arguments.in<float>(2), *inverses = arguments.in<float>(4);
  NormCotangent of{arguments.in<char>(0),
                   arguments.in<char>(1),
                   masks_ && !again_ ? arguments.in<char>(5) : nullptr,
                   arguments.in<float>(3),
                   again_ ? from_g : nullptr,
                   again_ ? arguments.in<float>(5) : nullptr,
                   limits_.least,
                   limits_.most};
  for (std::int64_t c = 0; c < columns; ++c) from_g[c] = static_cast<float>(norm_slope(gamma[c], inverses[c]));
  std::fill_n(sums, columns, 0.0);
  std::fill_n(products, columns, 0.0);
  channels_.for_blocks([&](std::int64_t offset, std::int64_t rows, std::int64_t place) {
    functions_.gradient_sums[dtype_](advanced(of, offset), masked != nullptr ? masked + offset : nullptr, rows, columns,
                                     sums + place, products + place);
  });
  channels_.add_blocks(sums);
  channels_.add_blocks(products);
  const double share = training_ ? 1 / static_cast<double>(channels_.rows) : 0;
  for (std::int64_t c = 0; c < columns; ++c) {
    const double inverse = static_cast<double>(inverses[c]);
    const double slope = norm_slope(gamma[c], inverses[c]);
    const double of_beta = sums[c], of_gamma = products[c] * inverse;
    dgamma[c] = static_cast<float>(of_gamma);
    dbeta[c] = static_cast<float>(of_beta);
    from_x[c] = static_cast<float>(-slope * inverse * of_gamma * share);
    add[c] = static_cast<float>(-slope * of_beta * share);
  }
  if (masked != nullptr) {  // gradient_sums has masked g
    of.g = masked;
    of.y = nullptr;
    of.scale = nullptr;
  }
  return {of, from_g, from_x, add};
}

void NormGradient::rows(const Prepared& prepared, std::int64_t offset, std::int64_t rows, void* to) const {
  functions_.gradient[dtype_](advanced(prepared.of, offset), to, prepared.from_g, prepared.from_x, prepared.add, rows,
                              channels_.columns);
}

}  // namespace mezzo::xsimd_kernels
