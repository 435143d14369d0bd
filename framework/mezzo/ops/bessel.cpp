#include <cstddef>

#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/numpy.hpp>

namespace mezzo {
namespace {

/// Sum of the Chebyshev polynomials of x with these factors (Clenshaw, 1955).
template <std::size_t N>
Value chebyshev(const Value& x, const double (&factors)[N]) {
  Value next = factors[N - 1], last = 0.0;
  for (std::size_t i = N - 1; i-- > 1;) {
    const Value now = 2 * x * next - last + factors[i];
    last = next;
    next = now;
  }
  return x * next - last + factors[0];
}

/// Chebyshev coefficients, fitted in float64: exp(-x) i0(x) in [0, 8] by x / 4 - 1, and sqrt(x) exp(-x) i0(x) from 8 on
/// by 16 / x - 1.
constexpr double near_zero[] = {
    0.33839763720473803,    -0.3046826723431984,     0.1716209015222087,     -0.09490109704804756,
    0.04930528423967058,    -0.023737414805899384,   0.01054646039459498,    -0.004324309995050513,
    0.0016394756169412744,  -0.0005763755745385368,  0.00018850288509573488, -5.754195010049701e-05,
    1.6448448070693066e-05, -4.416738358563599e-06,  1.1173875390746436e-06, -2.6707938512560146e-07,
    6.046995009889589e-08,  -1.3000250109751478e-08, 2.6598236424479894e-09, -5.189793439441815e-10,
    9.67580288113723e-11,   -1.7268291241379075e-11, 2.954748112848904e-12,  -4.855249535751227e-13,
    7.669309631808118e-14,  -1.1666223542761145e-14, 1.6864287744056127e-15};
constexpr double from_8_on[] = {
    0.40224520550705445,    0.003369116478255698,   6.889758346916963e-05,   2.891370520838876e-06,
    2.048918588859472e-07,  2.266668992056964e-08,  3.3962320333813523e-09,  4.94060259370599e-10,
    1.1889135231868408e-11, -3.149915883682297e-11, -1.3215846195180348e-11, -1.7940449126285784e-12,
    7.179912220323104e-13,  3.852318464225846e-13,  1.5403234243649423e-14,  -4.140243703432134e-14,
    -9.60453938603223e-15,  3.7636560534792805e-15, 1.758593271006248e-15};

}  // namespace

Value i0(const Value& x) {
  DType narrow{};
  const Value size = abs(detail::as_wide(x, narrow));
  const Value low = minimum(size, 8.0), high = maximum(size, 8.0);
  // exp(x / 2) twice: i0 is finite a little beyond the end of exp.
  const Value near = chebyshev(low * 0.25 - 1, near_zero) * exp(low);
  const Value half = exp(high * 0.5);
  const Value far = chebyshev(16 / high - 1, from_8_on) / sqrt(high) * half * half;
  return detail::as(where(size <= 8.0, near, far), narrow);
}

}  // namespace mezzo
