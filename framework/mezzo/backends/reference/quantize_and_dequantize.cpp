#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/convert.hpp>
#include <mezzo/core/finfo.hpp>

namespace mezzo::reference {
namespace {

/// Type in which a quotient or a product is computed before it is rounded.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Type of the rounded quotient: that of x, as in Keras; float for float16, whose range scales and quotients exceed.
template <class T>
using Step = std::conditional_t<std::is_same_v<T, float16>, float, T>;

/// Magnitudes above `limit` saturate. NaN and infinity are cast as they are, so that they don't become numbers.
template <class T, class Format>
T rounded_by(T x, Wide<T> scale, Wide<T> limit) {
  const auto wide = convert<Wide<T>>(x);
  const auto quotient = convert<Wide<T>>(convert<Step<T>>(wide / scale));
  const auto kept = std::isfinite(wide) ? std::clamp(quotient, -limit, limit) : quotient;
  return convert<T>(convert<Wide<T>>(convert<Format>(kept)) * scale);
}

template <class T, class Format>
std::unique_ptr<Kernel> make_rounding(const KernelRequest& request) {
  if (request.inputs.size() < 2) {
    return make_elementwise_kernel(request, [](const KernelArguments& arguments, std::int64_t begin, std::int64_t end) {
      const T* x = arguments.in<T>(0);
      for (std::int64_t i = begin; i < end; ++i) arguments.out<T>(0)[i] = convert<T>(convert<Format>(x[i]));
    });
  }
  const auto limit = static_cast<Wide<T>>(finfo(DTypeOf<Format>::value).max);
  return make_elementwise_kernel(request,
                                 [limit](const KernelArguments& arguments, std::int64_t begin, std::int64_t end) {
                                   const auto scale = convert<Wide<T>>(convert<Step<T>>(*arguments.in<float>(1)));
                                   const T* x = arguments.in<T>(0);
                                   for (std::int64_t i = begin; i < end; ++i)
                                     arguments.out<T>(0)[i] = rounded_by<T, Format>(x[i], scale, limit);
                                 });
}

template <class T>
std::unique_ptr<Kernel> make_for(const KernelRequest& request) {
  const auto format = request.attributes.get<DType>("format");
  if (format == DType::bfloat16) return make_rounding<T, bfloat16>(request);
  if (format == DType::float8_e5m2) return make_rounding<T, float8_e5m2>(request);
  return make_rounding<T, float8_e4m3fn>(request);
}

}  // namespace

std::unique_ptr<Kernel> create_quantize_and_dequantize(const KernelRequest& request, std::string& reason) {
  switch (request.inputs[0].dtype) {
    case DType::float32:
      return make_for<float>(request);
    case DType::float64:
      return make_for<double>(request);
    case DType::bfloat16:
      return make_for<bfloat16>(request);
    case DType::float16:
      return make_for<float16>(request);
    default:
      return decline(reason, "takes floats; got {}", request.inputs[0].dtype);
  }
}

}  // namespace mezzo::reference
