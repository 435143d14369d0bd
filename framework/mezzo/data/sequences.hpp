#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/dataset.hpp>

namespace mezzo {

namespace detail {
/// Lists of different lengths: `{{1, 2}, {3}}`, a vector of vectors of numbers, or of tensors (length, ...).
class MEZZO_API Sequences {
 public:
  Sequences(std::initializer_list<std::vector<double>> lists);
  Sequences(std::vector<Tensor> lists) : lists_(std::move(lists)) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>>>
  Sequences(const std::vector<std::vector<T>>& lists) {
    for (const std::vector<T>& list : lists) lists_.emplace_back(Shape{static_cast<std::int64_t>(list.size())}, list);
  }

  const std::vector<Tensor>& lists() const { return lists_; }

 private:
  std::vector<Tensor> lists_;
};
}  // namespace detail

/// Options of pad_sequences, in Keras' order.
struct PadSequencesOptions {
  std::optional<std::int64_t> maxlen{};  ///< length of the result, at least 0; default: that of the longest sequence
  DType dtype = DType::int32;            ///< dtype of the result
  std::string padding = "pre";           ///< position of the padding `value`: "pre" (before them) or "post"
  std::string truncating = "pre";        ///< position of the elements that long ones lose: "pre" (the first ones) or
                                         ///< "post"
  double value = 0;                      ///< value of the padding
};

/// Sequences of one length, as keras.utils.pad_sequences: (count, maxlen, ...). Numbers are converted to the dtype;
/// floats to integers truncate. Empty sequences become padding. Throws a ShapeError if the sequences differ in more
/// than their length or one is a scalar, a NameError for an unknown `padding` or `truncating`, a ValueError for a
/// negative maxlen, or for no sequences without maxlen.
MEZZO_API Tensor pad_sequences(const detail::Sequences& sequences, const PadSequencesOptions& options = {});

/// Classes as rows of 0 and a 1 at the class, as keras.utils.to_categorical: shape (..., num_classes), float32. A last
/// axis of size 1 is dropped first. Floats truncate. Default of num_classes: the largest class + 1. Throws a ValueError
/// for a class outside [0, num_classes), or for no classes without num_classes.
MEZZO_API Tensor to_categorical(const Tensor& x, std::optional<std::int64_t> num_classes = std::nullopt);

/// Options of timeseries_dataset_from_array. Batches, order and seed are options of the DataLoader.
struct TimeseriesOptions {
  std::int64_t sequence_length = 0;           ///< steps of a window, at least 1. Required.
  std::int64_t sequence_stride = 1;           ///< steps between the starts of two windows, at least 1
  std::int64_t sampling_rate = 1;             ///< steps between two elements of a window, at least 1
  std::optional<std::int64_t> start_index{};  ///< first step to use; default: 0
  std::optional<std::int64_t> end_index{};    ///< step after the last one to use; default: the number of steps
};

/// Sliding windows over a series, as keras.utils.timeseries_dataset_from_array. Fields: `x`, the steps i, i +
/// sampling_rate, ... of `data`, shape (sequence_length, ...), and `y`, row i of `targets`, for windows that start at
/// i. Windows without a target are left out. Nothing is copied. Throws a ShapeError for scalars, a ValueError for
/// options out of their range or if no window fits.
MEZZO_API Dataset timeseries_dataset_from_array(const Tensor& data, const Tensor& targets,
                                                const TimeseriesOptions& options);

/// The same without targets, as Keras' `targets=None`.
MEZZO_API Dataset timeseries_dataset_from_array(const Tensor& data, const TimeseriesOptions& options);

}  // namespace mezzo
