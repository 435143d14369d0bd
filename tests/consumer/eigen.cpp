// A user's C++17 program that converts from and to Eigen's matrices.
#include <mezzo/mezzo.hpp>

#include <mezzo/eigen.hpp>

int main() {
  const Eigen::MatrixXf matrix = Eigen::MatrixXf::Random(2, 3);
  const Eigen::MatrixXf back = mezzo::Tensor(matrix);
  return back == matrix ? 0 : 1;
}
