#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <opencv2/core.hpp>

#include <mezzo/core/tensor.hpp>

namespace mezzo {
namespace detail {

/// Dtype of the elements of a cv::Mat of that depth. CV_16U has none: its numbers become int32.
inline DType opencv_dtype(int depth) {
  switch (depth) {
    case CV_8U:
      return DType::uint8;
    case CV_8S:
      return DType::int8;
    case CV_16S:
      return DType::int16;
    case CV_16F:
      return DType::float16;
    case CV_32F:
      return DType::float32;
    case CV_64F:
      return DType::float64;
    default:
      return DType::int32;
  }
}

/// Depth of a cv::Mat with elements of a dtype. Throws a DTypeError for bfloat16, int64 and bool, which it lacks.
inline int opencv_depth(const Tensor& tensor) {
  for (const int depth : {CV_8U, CV_8S, CV_16S, CV_32S, CV_16F, CV_32F, CV_64F}) {
    if (opencv_dtype(depth) == tensor.dtype()) return depth;
  }
  throw DTypeError(
      "[Tensor] a cv::Mat must have elements of float32, float64, float16, int8, int16, int32 or uint8; "
      "got " +
      tensor.describe());
}

}  // namespace detail

/// Makes cv::Mat and cv::Mat_<T> convert to a Tensor, and a Tensor to a cv::Mat. Elements are copied, also from a Mat
/// whose rows have gaps, such as a part of a picture.
///
/// The shape is that of OpenCV's Python module: (rows, columns), with several channels (rows, columns, channels); a Mat
/// of more axes has them all. An empty Mat has shape (0,). The order of the channels stays: OpenCV's pictures are BGR.
/// CV_16U becomes int32, since mezzo has no uint16.
///
/// From a tensor of shape (n,) the Mat has one column, from (rows, columns, channels) channels if there are at most
/// CV_CN_MAX (512), and from four axes or more one channel. Throws a ShapeError for a scalar and for sizes from 2^31
/// on, a DTypeError for bfloat16, int64 and bool.
template <class M>
struct TensorAdapter<M, std::enable_if_t<std::is_base_of_v<cv::Mat, M>>> {
  static Tensor to_tensor(const M& given) {
    const cv::Mat& mat = given;
    if (mat.empty()) return Tensor({0}, detail::opencv_dtype(mat.depth()));
    cv::Mat whole = mat;
    if (mat.depth() == CV_16U) {
      mat.convertTo(whole, CV_32S);
    } else if (!mat.isContinuous()) {
      whole = mat.clone();
    }
    Shape shape(whole.size.p, whole.size.p + whole.dims);
    if (whole.channels() > 1) shape.push_back(whole.channels());
    Tensor out = Tensor::uninitialized(shape, detail::opencv_dtype(whole.depth()));
    std::memcpy(out.mutable_raw(), whole.data, out.bytes());
    return out;
  }

  template <class A = M, class = std::enable_if_t<std::is_same_v<A, cv::Mat>>>
  static A from_tensor(const Tensor& tensor) {
    const int depth = detail::opencv_depth(tensor);
    Shape shape = tensor.shape();
    constexpr std::size_t most_axes = 32;  // OpenCV's CV_MAX_DIM
    bool fits = !shape.empty();
    for (const std::int64_t size : shape) fits = fits && size <= INT32_MAX;
    if (!fits || shape.size() > most_axes) {
      throw ShapeError("[Tensor] a cv::Mat must have 1 to 32 axes with sizes below 2^31; got " + tensor.describe());
    }
    if (tensor.size() == 0) return {};
    const bool has_channels = shape.size() == 3 && shape.back() <= CV_CN_MAX;
    const int channels = has_channels ? static_cast<int>(shape.back()) : 1;
    if (has_channels) shape.pop_back();
    if (shape.size() == 1) shape.push_back(1);
    const std::vector<int> sizes(shape.begin(), shape.end());
    A out(static_cast<int>(sizes.size()), sizes.data(), CV_MAKETYPE(depth, channels));
    std::memcpy(out.data, tensor.raw(), tensor.bytes());
    return out;
  }
};

}  // namespace mezzo
