// A user's C++17 program that converts from and to xtensor's arrays.
#include <mezzo/mezzo.hpp>
#include <mezzo/xtensor.hpp>

int main() {
  const xt::xarray<float> array = {{1, 2}, {3, 4}};
  const xt::xarray<float> back = mezzo::Tensor(array);
  return back == array ? 0 : 1;
}
