#include <boost/test/unit_test.hpp>

#include "support/skip.hpp"

#if __has_include(<opencv2/core.hpp>)
#include <mezzo/opencv.hpp>

#include "support/throws.hpp"

using mezzo::DType;
using mezzo::Tensor;
using mezzo_tests::check_throws;

namespace {

// Row y, column x, channel c has the number 100 y + 10 x + c.
template <class T>
cv::Mat numbered(int rows, int columns, int channels) {
  cv::Mat out(rows, columns, CV_MAKETYPE(cv::DataType<T>::depth, channels));
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns * channels; ++x) {
      const int column = x / channels;
      out.ptr<T>(y)[x] = static_cast<T>(100 * y + 10 * column + x % channels);
    }
  }
  return out;
}

template <class T>
void check_opencv(const std::string& dtype) {
  const cv::Mat picture = numbered<T>(1, 3, 3);
  const Tensor tensor = picture;
  BOOST_TEST(tensor.describe() == dtype + " (1, 3, 3)");
  BOOST_TEST(tensor.to_doubles() == (std::vector<double>{0, 1, 2, 10, 11, 12, 20, 21, 22}),
             boost::test_tools::per_element());
  const cv::Mat back = tensor;
  BOOST_TEST((back.rows == 1 && back.cols == 3));
  BOOST_TEST(back.type() == CV_MAKETYPE(cv::DataType<T>::depth, 3));
  BOOST_TEST(Tensor(back).equal(tensor));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(opencv)

BOOST_AUTO_TEST_CASE(pictures_make_the_round_trip) {
  check_opencv<std::uint8_t>("uint8");
  check_opencv<std::int8_t>("int8");
  check_opencv<std::int16_t>("int16");
  check_opencv<std::int32_t>("int32");
  check_opencv<float>("float32");
  check_opencv<double>("float64");
}

BOOST_AUTO_TEST_CASE(parts_with_gaps_between_their_rows_convert) {
  const cv::Mat part = numbered<float>(3, 4, 1)(cv::Rect(1, 1, 2, 2));
  BOOST_TEST(!part.isContinuous());
  BOOST_TEST(Tensor(part).describe() == "float32 (2, 2)");
  BOOST_TEST(Tensor(part).to_doubles() == (std::vector<double>{110, 120, 210, 220}), boost::test_tools::per_element());
  const cv::Mat wide = numbered<std::uint16_t>(700, 2, 1);
  const Tensor numbers = wide;
  BOOST_TEST(numbers.describe() == "int32 (700, 2)");
  BOOST_TEST(numbers.to_doubles().back() == 69910 % 65536);
  const cv::Mat_<double> typed = (cv::Mat_<double>(1, 2) << 1, 2);
  BOOST_TEST(Tensor(typed).describe() == "float64 (1, 2)");
}

BOOST_AUTO_TEST_CASE(other_ranks_convert) {
  const cv::Mat column = Tensor({3});
  BOOST_TEST((column.rows == 3 && column.cols == 1 && column.channels() == 1));
  const cv::Mat many = Tensor({2, 2, 600});  // more than the channels that OpenCV can have
  BOOST_TEST((many.dims == 3 && many.channels() == 1));
  BOOST_TEST(Tensor(many).describe() == "float32 (2, 2, 600)");
  const cv::Mat batch = Tensor({2, 4, 5, 3}, DType::uint8);
  BOOST_TEST((batch.dims == 4 && batch.channels() == 1));
  BOOST_TEST(Tensor(batch).describe() == "uint8 (2, 4, 5, 3)");
  BOOST_TEST(Tensor(cv::Mat()).size() == 0);
  const cv::Mat empty = Tensor({0, 3});
  BOOST_TEST(empty.empty());
  check_throws<mezzo::ShapeError>("[Tensor] a cv::Mat must have 1 to 32 axes with sizes below 2^31; got float32 ()",
                                  [] {
                                    const cv::Mat mat = Tensor::scalar(1);
                                    return mat.dims;
                                  });
  check_throws<mezzo::DTypeError>(
      "[Tensor] a cv::Mat must have elements of float32, float64, float16, int8, int16, int32 or uint8; got int64 (2,)",
      [] {
        const cv::Mat mat = Tensor({2}, DType::int64);
        return mat.dims;
      });
}

BOOST_AUTO_TEST_CASE(a_view_shares_the_picture) {
  cv::Mat picture = numbered<float>(2, 2, 3);
  const Tensor view = Tensor::from_memory(picture.ptr<float>(), {2, 2, 3}, std::make_shared<cv::Mat>(picture));
  picture.at<float>(0, 0) = 7;
  BOOST_TEST(view.to_doubles()[0] == 7);
  picture.release();
  BOOST_TEST(view.to_doubles()[0] == 7);
}

BOOST_AUTO_TEST_SUITE_END()

#else

BOOST_AUTO_TEST_SUITE(opencv)
BOOST_AUTO_TEST_CASE(is_not_installed) { mezzo_tests::skip("needs libopencv-core-dev"); }
BOOST_AUTO_TEST_SUITE_END()

#endif
