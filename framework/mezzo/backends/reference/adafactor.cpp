#include <algorithm>
#include <cmath>
#include <cstdint>

#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/update_elements.hpp>
#include <mezzo/core/parallel.hpp>

// Adafactor (Shazeer and Stern, 2018) as in Keras. Variables with two or more axes are stacks of matrices, with only
// the means of squared gradients by row and by column kept.
namespace mezzo::reference {
namespace {

template <class T>
class Adafactor {
 public:
  explicit Adafactor(const KernelRequest& request)
      : request_(request, request.inputs[0].shape.size() < 2 ? 1 : 2),
        epsilon_1_(request.attributes.get<double>("epsilon_1")),
        epsilon_2_(request.attributes.get<double>("epsilon_2")),
        threshold_(request.attributes.get<double>("clip_threshold")),
        beta_2_decay_(request.attributes.get<double>("beta_2_decay")),
        relative_(request.attributes.get<bool>("relative_step")) {
    const Shape& shape = request.inputs[0].shape;
    factored_ = shape.size() >= 2;
    if (!factored_) return;
    rows_ = shape[shape.size() - 2];
    columns_ = shape.back();
  }

  /// Bytes for the denominator of each element.
  std::size_t scratch_bytes() const { return static_cast<std::size_t>(request_.count) * sizeof(T); }

  void operator()(const KernelArguments& arguments) const {
    const double rate = request_.number(arguments, 0), count = request_.number(arguments, 1);
    const Elements<T> elements(request_, arguments, rate * request_.weight_decay, request_.number(arguments, 2));
    if (request_.count == 0) return;
    auto* squares = static_cast<T*>(arguments.scratch);
    const auto old_weight = static_cast<T>(1 - std::pow(count, beta_2_decay_));
    if (factored_) {
      for (std::int64_t matrix = 0; matrix * rows_ * columns_ < request_.count; ++matrix) {
        factor(arguments, elements, matrix, old_weight, squares);
      }
    } else {
      for (std::int64_t i = 0; i < request_.count; ++i) {
        squares[i] = averaged(old_weight, arguments.in<T>(2)[i], square(elements, i));
        arguments.out<T>(1)[i] = squares[i];
      }
    }
    double of_variable = 0, of_step = 0;
    for (std::int64_t i = 0; i < request_.count; ++i) {
      const auto w = static_cast<double>(elements.variable(i));
      const auto u = static_cast<double>(elements.gradient(i) / std::sqrt(squares[i]));
      of_variable += w * w;
      of_step += u * u;
    }
    const auto n = static_cast<double>(request_.count);
    const double limit = 1 / std::sqrt(count);
    const double step = std::sqrt(of_step / n) / threshold_;
    const double size = std::max(epsilon_2_, std::sqrt(of_variable / n)) * (relative_ ? std::min(rate, limit) : rate);
    // max() keeps its first operand if the second is NaN; a NaN must reach the variable.
    const auto factor_of_all = static_cast<T>(size / (step > 1 || step != step ? step : 1));
    parallel_for(request_.count, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        elements.change_variable(i, -(factor_of_all * (elements.gradient(i) / std::sqrt(squares[i]))));
      }
    });
  }

 private:
  T square(const Elements<T>& elements, std::int64_t i) const {
    const T g = elements.gradient(i);
    return g * g + static_cast<T>(epsilon_1_);
  }

  static T averaged(T old_weight, T before, T now) { return old_weight * before + (1 - old_weight) * now; }

  void factor(const KernelArguments& arguments, const Elements<T>& elements, std::int64_t matrix, T old_weight,
              T* squares) const {
    const std::int64_t first = matrix * rows_ * columns_;
    T* row_means = arguments.out<T>(1) + matrix * rows_;
    T* column_means = arguments.out<T>(2) + matrix * columns_;
    T mean = 0;
    for (std::int64_t row = 0; row < rows_; ++row) {
      double sum = 0;
      for (std::int64_t column = 0; column < columns_; ++column)
        sum += static_cast<double>(square(elements, first + row * columns_ + column));
      const T before = arguments.in<T>(2)[matrix * rows_ + row];
      row_means[row] = averaged(old_weight, before, static_cast<T>(sum / static_cast<double>(columns_)));
      mean += row_means[row];
    }
    mean /= static_cast<T>(rows_);
    for (std::int64_t column = 0; column < columns_; ++column) {
      double sum = 0;
      for (std::int64_t row = 0; row < rows_; ++row)
        sum += static_cast<double>(square(elements, first + row * columns_ + column));
      const T before = arguments.in<T>(3)[matrix * columns_ + column];
      column_means[column] = averaged(old_weight, before, static_cast<T>(sum / static_cast<double>(rows_)));
    }
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (std::int64_t column = 0; column < columns_; ++column) {
        squares[first + row * columns_ + column] = row_means[row] / mean * column_means[column];
      }
    }
  }

  UpdateRequest request_;
  double epsilon_1_, epsilon_2_, threshold_, beta_2_decay_;
  bool relative_, factored_ = false;
  std::int64_t rows_ = 0, columns_ = 0;
};

template <class T>
std::unique_ptr<Kernel> make_adafactor(const KernelRequest& request) {
  const Adafactor<T> adafactor(request);
  return make_kernel(adafactor, overwritten_by_update(request), adafactor.scratch_bytes());
}

}  // namespace

std::unique_ptr<Kernel> create_adafactor_update(const KernelRequest& request, std::string& reason) {
  if (!is_floating(request.inputs[0].dtype) || !is_floating(request.inputs[1].dtype)) {
    return decline(reason, "computes floats only");
  }
  return request.inputs[0].dtype == DType::float64 ? make_adafactor<double>(request) : make_adafactor<float>(request);
}

}  // namespace mezzo::reference
