#include <mezzo/data/sequences.hpp>

#include <algorithm>
#include <cstring>

#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

/// True for "pre", false for "post".
bool is_pre(const char* option, const std::string& given) {
  if (given != "pre" && given != "post") {
    fail_unknown("[pad_sequences]", option, given, {"post", "pre"});
  }
  return given == "pre";
}

/// Shape of an element of the sequences: of the first one that is not empty.
Shape element_of(const std::vector<Tensor>& lists) {
  for (const Tensor& list : lists) {
    if (list.shape().empty()) fail<ShapeError>("[pad_sequences]", "a sequence must have an axis; got shape ()");
  }
  const auto first = std::find_if(lists.begin(), lists.end(), [](const Tensor& list) { return list.shape()[0] > 0; });
  return first == lists.end() ? Shape() : Shape(first->shape().begin() + 1, first->shape().end());
}

std::int64_t longest(const std::vector<Tensor>& lists) {
  if (lists.empty()) fail<ValueError>("[pad_sequences]", "maxlen must be given for no sequences; got none");
  std::int64_t most = 0;
  for (const Tensor& list : lists) most = std::max(most, list.shape()[0]);
  return most;
}

/// Windows over a series, of checked options.
class Windows : public DatasetSource {
 public:
  Windows(Tensor data, std::optional<Tensor> targets, const TimeseriesOptions& options)
      : data_(std::move(data)), targets_(std::move(targets)), options_(options) {
    const auto check = [this](const char* name, std::int64_t number, std::int64_t least, std::int64_t below) {
      if (number >= least && number < below) return;
      fail<ValueError>(where, "{} must lie in [{}, {}) for {} steps; got {}", name, least, below, steps(), number);
    };
    if (data_.shape().empty()) fail<ShapeError>(where, "data must have an axis 0 of steps; got shape ()");
    if (options.sequence_length < 1) {
      fail<ValueError>(where, "sequence_length must be at least 1; got {}", options.sequence_length);
    }
    check("sampling_rate", options.sampling_rate, 1, std::max<std::int64_t>(2, steps()));
    check("sequence_stride", options.sequence_stride, 1, std::max<std::int64_t>(2, steps()));
    begin_ = options.start_index.value_or(0);
    const std::int64_t end = options.end_index.value_or(steps());
    check("start_index", begin_, 0, std::max<std::int64_t>(1, steps()));
    check("end_index", end, begin_ + 1, steps() + 1);
    std::int64_t starts = end - begin_ - (options.sequence_length - 1) * options.sampling_rate;
    fields_.push_back({"x", data_.shape(), data_.dtype(), Role::input});
    fields_.back().shape[0] = options.sequence_length;
    if (targets_) {
      const Shape& shape = targets_->shape();
      if (shape.empty()) fail<ShapeError>(where, "targets must have an axis 0 of steps; got shape ()");
      starts = std::min(starts, shape[0] - begin_);
      fields_.push_back({"y", Shape(shape.begin() + 1, shape.end()), targets_->dtype(), Role::target});
      target_bytes_ = shape[0] > 0 ? targets_->bytes() / static_cast<std::size_t>(shape[0]) : 0;
    }
    if (starts < 1) {
      fail<ValueError>(where,
                       "a window of {} steps at sampling_rate {} must fit in the steps [{}, {}) and have a target",
                       options.sequence_length, options.sampling_rate, begin_, end);
    }
    size_ = (starts - 1) / options.sequence_stride + 1;
    step_bytes_ = data_.bytes() / static_cast<std::size_t>(steps());
  }

  std::int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::int64_t index, void* const* out) const override {
    const std::int64_t start = begin_ + index * options_.sequence_stride;
    auto* to = static_cast<std::byte*>(out[0]);
    for (std::int64_t i = 0; i < options_.sequence_length; ++i, to += step_bytes_) {
      const auto step = static_cast<std::size_t>(start + i * options_.sampling_rate);
      std::memcpy(to, static_cast<const std::byte*>(data_.raw()) + step * step_bytes_, step_bytes_);
    }
    if (!targets_) return;
    const auto* rows = static_cast<const std::byte*>(targets_->raw());
    std::memcpy(out[1], rows + static_cast<std::size_t>(start) * target_bytes_, target_bytes_);
  }

 private:
  static constexpr const char* where = "[timeseries_dataset_from_array]";
  std::int64_t steps() const { return data_.shape()[0]; }

  Tensor data_;
  std::optional<Tensor> targets_;
  TimeseriesOptions options_;
  std::vector<Field> fields_;
  std::int64_t begin_ = 0, size_ = 0;
  std::size_t step_bytes_ = 0, target_bytes_ = 0;
};

}  // namespace

detail::Sequences::Sequences(std::initializer_list<std::vector<double>> lists)
    : detail::Sequences(std::vector<std::vector<double>>(lists)) {}

Tensor pad_sequences(const detail::Sequences& sequences, const PadSequencesOptions& options) {
  const std::vector<Tensor>& lists = sequences.lists();
  const bool pad_first = is_pre("padding", options.padding), cut_first = is_pre("truncating", options.truncating);
  const Shape element = element_of(lists);
  const std::int64_t length = options.maxlen ? *options.maxlen : longest(lists);
  if (length < 0) fail<ValueError>("[pad_sequences]", "maxlen must not be negative; got {}", length);
  Shape shape{static_cast<std::int64_t>(lists.size()), length};
  shape.insert(shape.end(), element.begin(), element.end());
  const Tensor value = Tensor::scalar(options.value, DType::float64).cast(options.dtype);
  Tensor out = Tensor::uninitialized(shape, options.dtype);
  auto* row = static_cast<std::byte*>(out.mutable_raw());
  const std::size_t item = value.bytes();
  for (std::size_t i = 0; i < static_cast<std::size_t>(out.size()); ++i) {
    std::memcpy(row + i * item, value.raw(), item);
  }
  std::int64_t elements = 1;
  for (const std::int64_t size : element) elements *= size;
  const std::size_t step = item * static_cast<std::size_t>(elements);
  for (std::size_t i = 0; i < lists.size(); ++i, row += static_cast<std::size_t>(length) * step) {
    const std::int64_t given = lists[i].shape()[0], kept = std::min(given, length);
    if (kept == 0) continue;
    if (Shape(lists[i].shape().begin() + 1, lists[i].shape().end()) != element) {
      fail<ShapeError>("[pad_sequences]", "elements of sequence {} must have shape {}, as the first ones; got shape {}",
                       i, element, lists[i].shape());
    }
    const Tensor part = lists[i].slice(cut_first ? given - kept : 0, cut_first ? given : kept).cast(options.dtype);
    std::memcpy(row + (pad_first ? static_cast<std::size_t>(length - kept) * step : 0), part.raw(), part.bytes());
  }
  return out;
}

Tensor to_categorical(const Tensor& x, std::optional<std::int64_t> num_classes) {
  const Tensor classes = x.cast(DType::int64);
  const auto* numbers = classes.data<std::int64_t>();
  if (!num_classes) {
    if (x.size() == 0) fail<ValueError>("[to_categorical]", "num_classes must be given for no classes");
    num_classes = *std::max_element(numbers, numbers + x.size()) + 1;
  }
  Shape shape = x.shape();
  if (shape.size() > 1 && shape.back() == 1) shape.pop_back();
  if (*num_classes < 0) fail<ValueError>("[to_categorical]", "num_classes must not be negative; got {}", *num_classes);
  shape.push_back(*num_classes);
  Tensor out(shape, DType::float32);
  auto* row = out.mutable_data<float>();
  for (std::int64_t i = 0; i < x.size(); ++i, row += *num_classes) {
    if (numbers[i] < 0 || numbers[i] >= *num_classes) {
      fail<ValueError>("[to_categorical]", "classes must lie in [0, {}); got {}", *num_classes, numbers[i]);
    }
    row[numbers[i]] = 1;
  }
  return out;
}

Dataset timeseries_dataset_from_array(const Tensor& data, const Tensor& targets, const TimeseriesOptions& options) {
  return Windows(data, targets, options);
}

Dataset timeseries_dataset_from_array(const Tensor& data, const TimeseriesOptions& options) {
  return Windows(data, std::nullopt, options);
}

}  // namespace mezzo
