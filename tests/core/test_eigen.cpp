#include <boost/test/unit_test.hpp>

#include <mezzo/eigen.hpp>

#include "support/throws.hpp"

using mezzo::Tensor;
using mezzo_tests::check_throws;

namespace {

std::string describe_eigen(const Tensor& tensor) { return tensor.describe(); }

template <class T>
void check_eigen(const std::string& dtype) {
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> columns(2, 3);
  columns << T(0), T(1), T(0), T(1), T(1), T(0);
  const Tensor tensor = columns;
  BOOST_TEST(tensor.describe() == dtype + " (2, 3)");
  BOOST_TEST(tensor.to_doubles() == (std::vector<double>{0, 1, 0, 1, 1, 0}), boost::test_tools::per_element());
  const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> back = tensor;
  BOOST_TEST((back == columns));
  const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = tensor;
  BOOST_TEST((rows == columns));
  BOOST_TEST(Tensor(rows).equal(tensor));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(eigen)

BOOST_AUTO_TEST_CASE(matrices_make_the_round_trip) {
  check_eigen<float>("float32");
  check_eigen<double>("float64");
  check_eigen<std::int8_t>("int8");
  check_eigen<std::int16_t>("int16");
  check_eigen<std::int32_t>("int32");
  check_eigen<std::int64_t>("int64");
  check_eigen<std::uint8_t>("uint8");
  check_eigen<bool>("bool");
}

BOOST_AUTO_TEST_CASE(vectors_arrays_and_expressions_convert) {
  const Eigen::Vector3f vector(1, 2, 3);
  BOOST_TEST(describe_eigen(vector) == "float32 (3,)");
  const Eigen::RowVectorXf row = Tensor(vector);
  BOOST_TEST(row.cols() == 3);
  const Eigen::MatrixXf column = Tensor(vector);
  BOOST_TEST((column.rows() == 3 && column.cols() == 1));
  Eigen::MatrixXd matrix(2, 2);
  matrix << 1, 2, 3, 4;
  BOOST_TEST(Tensor(matrix * matrix).to_doubles() == (std::vector<double>{7, 10, 15, 22}),
             boost::test_tools::per_element());
  BOOST_TEST(Tensor(matrix.transpose()).to_doubles() == (std::vector<double>{1, 3, 2, 4}),
             boost::test_tools::per_element());
  BOOST_TEST(describe_eigen(matrix.row(1)) == "float64 (2,)");
  BOOST_TEST(describe_eigen(matrix.block(0, 0, 1, 2)) == "float64 (1, 2)");
  const Eigen::ArrayXXd array = Tensor(matrix.array() + 1);
  BOOST_TEST((array == matrix.array() + 1).all());
  const Eigen::MatrixXd empty = Tensor(mezzo::Shape{0, 4}, mezzo::DType::float64);
  BOOST_TEST((empty.rows() == 0 && empty.cols() == 4));
}

BOOST_AUTO_TEST_CASE(other_sizes_ranks_and_dtypes_are_refused) {
  const Tensor tensor({2, 3}), cube({1, 2, 3}), scalar = Tensor::scalar(1);
  check_throws<mezzo::ShapeError>("[Tensor] an Eigen type of 3 x 3 elements can't hold float32 (2, 3)", [&] {
    const Eigen::Matrix3f fixed = tensor;
    return fixed(0);
  });
  check_throws<mezzo::ShapeError>("[Tensor] an Eigen type of ? x 1 elements can't hold float32 (2, 3)", [&] {
    const Eigen::VectorXf vector = tensor;
    return vector(0);
  });
  for (const Tensor& other : {cube, scalar}) {
    check_throws<mezzo::ShapeError>("[Tensor] an Eigen type of ? x ? elements can't hold " + other.describe(), [&] {
      const Eigen::MatrixXf matrix = other;
      return matrix(0);
    });
  }
  check_throws<mezzo::DTypeError>("[Tensor] the elements must be accessed as float32; got an access as float64", [&] {
    const Eigen::MatrixXd matrix = tensor;
    return matrix(0);
  });
}

BOOST_AUTO_TEST_SUITE_END()
