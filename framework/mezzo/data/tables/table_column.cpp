#include <mezzo/data/tables/table_column.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <set>

#include <mezzo/core/convert.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/visit.hpp>
#include <mezzo/data/tables/categories.hpp>
#include <mezzo/data/tables/column_of_texts.hpp>
#include <mezzo/data/tables/number_casts.hpp>

namespace mezzo {
namespace {

const char* const column_where = "[Column]";

using Kind = detail::ColumnType::Kind;

std::int64_t length_of(const Shape& shape) {
  if (shape.size() != 1) fail<ShapeError>(column_where, "values must have shape (rows,); got shape {}", shape);
  return shape[0];
}

std::shared_ptr<const std::vector<std::string>> shared_texts(std::vector<std::string> texts) {
  return std::make_shared<const std::vector<std::string>>(std::move(texts));
}

/// True where a float is NaN; nullopt if none is.
std::optional<Tensor> nan_of(const Tensor& values) {
  if (!is_floating(values.dtype())) return std::nullopt;
  std::optional<Tensor> isna;
  visit_dtype(values.dtype(), [&](auto zero) {
    const auto* x = values.data<decltype(zero)>();
    for (std::int64_t i = 0; i < values.size(); ++i) {
      if (!std::isnan(convert<double>(x[i]))) continue;
      if (!isna) isna = Tensor({values.size()}, DType::boolean);
      isna->mutable_data<bool>()[i] = true;
    }
  });
  return isna;
}

/// Value of missing elements.
template <class T>
T absent() {
  if constexpr (std::is_integral_v<T>) {
    return T{};
  } else {
    return static_cast<T>(std::numeric_limits<float>::quiet_NaN());
  }
}

}  // namespace

Column detail::ColumnOfTexts::make(std::vector<std::string> texts, const std::optional<Tensor>& missing) {
  Column out(ColumnType("str"), static_cast<std::int64_t>(texts.size()));
  out.texts_ = shared_texts(std::move(texts));
  out.set_missing(missing);
  return out;
}

Column::Column() : Column(Strings()) {}

Column::Column(Tensor values, const std::optional<Tensor>& missing)
    : Column(detail::ColumnType(values.dtype()), length_of(values.shape())) {
  values_ = std::move(values);
  set_missing(missing);
  const std::optional<Tensor> nan = nan_of(values_);
  if (!isna_) {
    set_missing(nan);
    return;
  }
  visit_dtype(values_.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* x = values_.mutable_data<T>();
    bool* isna = isna_->mutable_data<bool>();
    for (std::int64_t i = 0; i < size_; ++i) {
      isna[i] = isna[i] || (nan && nan->data<bool>()[i]);
      if (isna[i]) x[i] = absent<T>();
    }
  });
  set_missing(std::optional<Tensor>(isna_));
}

Column::Column(const Strings& values, const std::optional<Tensor>& missing)
    : Column(detail::ColumnType("str"), length_of(values.shape())) {
  set_missing(missing);
  std::vector<std::string> texts = values.values();
  for (std::int64_t i = 0; isna_ && i < size_; ++i) {
    if (isna_->data<bool>()[i]) texts[static_cast<std::size_t>(i)].clear();
  }
  texts_ = shared_texts(std::move(texts));
}

Column Column::categorical(Tensor codes, std::vector<std::string> categories) {
  Column out(detail::ColumnType("category"), length_of(codes.shape()));
  std::set<std::string> once;
  for (const std::string& category : categories) {
    if (!once.insert(category).second)
      fail<ValueError>(column_where, "categories must differ; got \"{}\" twice", category);
  }
  Tensor missing({out.size_}, DType::boolean);
  const auto* code = codes.data<std::int64_t>();
  for (std::int64_t i = 0; i < out.size_; ++i) {
    if (code[i] < -1 || code[i] >= static_cast<std::int64_t>(categories.size())) {
      fail<ValueError>(column_where, "codes must lie in [-1, {}); got {} in row {}", categories.size(), code[i], i);
    }
    missing.mutable_data<bool>()[i] = code[i] == -1;
  }
  out.values_ = std::move(codes);
  out.texts_ = shared_texts(std::move(categories));
  out.set_missing(missing);
  return out;
}

void Column::set_missing(const std::optional<Tensor>& missing) {
  missing_count_ = 0;
  if (missing) {
    if (missing->shape() != Shape{size_}) {
      fail<ShapeError>(column_where, "missing must have shape ({},); got shape {}", size_, missing->shape());
    }
    const bool* isna = missing->data<bool>();
    missing_count_ = std::count(isna, isna + size_, true);
  }
  isna_ = missing_count_ > 0 ? missing : std::nullopt;
}

void Column::check_row(std::int64_t row) const {
  if (row < 0 || row >= size_) fail<ValueError>(column_where, "a row must lie in [0, {}); got {}", size_, row);
}

Tensor Column::isna() const { return isna_ ? *isna_ : Tensor({size_}, DType::boolean); }

bool Column::is_missing(std::int64_t row) const {
  check_row(row);
  return isna_ && isna_->data<bool>()[row];
}

const Tensor& Column::values() const {
  if (type_.kind() == Kind::strings) fail<DTypeError>(column_where, "values must be numbers or categories; got str");
  return values_;
}

Strings Column::strings() const {
  if (type_.kind() == Kind::strings) return {Shape{size_}, *texts_};
  if (type_.kind() == Kind::numbers) fail<DTypeError>(column_where, "strings must be str or category; got {}", type());
  std::vector<std::string> texts;
  texts.reserve(static_cast<std::size_t>(size_));
  for (std::int64_t i = 0; i < size_; ++i) texts.push_back(text(i));
  return {Shape{size_}, std::move(texts)};
}

const std::vector<std::string>& Column::categories() const {
  if (type_.kind() != Kind::categories) fail<DTypeError>(column_where, "type must be category; got {}", type());
  return *texts_;
}

Column Column::astype(const detail::ColumnType& type) const {
  if (type.name() == type_.name()) return *this;
  if (type.kind() == Kind::categories && type_.kind() == Kind::strings) {
    return categorical(detail::codes_of(*texts_, isna_), detail::sorted_categories(*texts_, isna_));
  }
  if (type.kind() == Kind::strings && type_.kind() == Kind::categories) return {strings(), isna_};
  if (type.kind() != Kind::numbers || type_.kind() != Kind::numbers) {
    fail<DTypeError>(column_where, "{} has no conversion to {}", type_.name(), type.name());
  }
  Tensor out(Shape{size_}, type.dtype());
  visit_dtype(values_.dtype(), [&](auto from_zero) {
    visit_dtype(type.dtype(), [&](auto to_zero) {
      using To = decltype(to_zero);
      const auto* from = values_.data<decltype(from_zero)>();
      To* to = out.mutable_data<To>();
      for (std::int64_t i = 0; i < size_; ++i) {
        if (is_missing(i)) {
          to[i] = absent<To>();
          continue;
        }
        const auto value = detail::held_as<To>(from[i]);
        if (!value) fail<ValueError>(column_where, "row {} must fit {}; got {}", i, type.name(), text(i));
        to[i] = *value;
      }
    });
  });
  return {std::move(out), isna_};
}

Column Column::fillna(const detail::FillValue& value) const {
  const auto* const number = std::get_if<double>(&value);
  return number != nullptr ? filled(*number) : filled(*std::get_if<std::string>(&value));
}

Column Column::filled(double value) const {
  if (type_.kind() != Kind::numbers) fail<DTypeError>(column_where, "a column of {} is filled with a text", type());
  Tensor values = values_;
  visit_dtype(values.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto held = detail::held_as<T>(value);
    if (!held) fail<ValueError>(column_where, "the value for missing ones must fit {}; got {}", type(), value);
    for (std::int64_t i = 0; isna_ && i < size_; ++i) {
      if (isna_->data<bool>()[i]) values.mutable_data<T>()[i] = *held;
    }
  });
  return Column(std::move(values));
}

Column Column::filled(const std::string& value) const {
  if (type_.kind() == Kind::numbers) fail<DTypeError>(column_where, "a column of {} is filled with a number", type());
  if (!isna_) return *this;
  if (type_.kind() == Kind::strings) {
    std::vector<std::string> texts = *texts_;
    for (std::int64_t i = 0; i < size_; ++i) {
      if (isna_->data<bool>()[i]) texts[static_cast<std::size_t>(i)] = value;
    }
    return Column(Strings(Shape{size_}, std::move(texts)));
  }
  std::vector<std::string> categories = *texts_;
  auto found = std::find(categories.begin(), categories.end(), value);
  if (found == categories.end()) found = categories.insert(categories.end(), value);
  Tensor codes = values_;
  auto* code = codes.mutable_data<std::int64_t>();
  std::replace(code, code + size_, std::int64_t{-1}, static_cast<std::int64_t>(found - categories.begin()));
  return categorical(std::move(codes), std::move(categories));
}

std::vector<double> Column::present() const {
  if (type_.kind() != Kind::numbers) fail<DTypeError>(column_where, "type must be a number's; got {}", type());
  const std::vector<double> all = values_.to_doubles();
  std::vector<double> out;
  for (std::int64_t i = 0; i < size_; ++i) {
    if (!is_missing(i)) out.push_back(all[static_cast<std::size_t>(i)]);
  }
  return out;
}

double Column::mean() const {
  const std::vector<double> numbers = present();
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

double Column::median() const {
  std::vector<double> numbers = present();
  if (numbers.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(numbers.begin(), numbers.end());
  const std::size_t half = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[half] : (numbers[half - 1] + numbers[half]) / 2;
}

Column Column::take(const std::vector<std::int64_t>& rows) const {
  Column out(type_, static_cast<std::int64_t>(rows.size()));
  for (const std::int64_t row : rows) check_row(row);
  const auto taken = [&](const Tensor& from) {
    Tensor to = Tensor::uninitialized({out.size_}, from.dtype());
    visit_dtype(from.dtype(), [&](auto zero) {
      using T = decltype(zero);
      T* element = to.mutable_data<T>();
      for (const std::int64_t row : rows) *element++ = from.data<T>()[row];
    });
    return to;
  };
  if (type_.kind() != Kind::strings) out.values_ = taken(values_);
  out.texts_ = texts_;
  if (type_.kind() == Kind::strings) {
    std::vector<std::string> texts;
    for (const std::int64_t row : rows) texts.push_back((*texts_)[static_cast<std::size_t>(row)]);
    out.texts_ = shared_texts(std::move(texts));
  }
  out.set_missing(isna_ ? std::optional<Tensor>(taken(*isna_)) : std::nullopt);
  return out;
}

std::string Column::text(std::int64_t row) const {
  if (is_missing(row)) return "";
  const auto i = static_cast<std::size_t>(row);
  if (type_.kind() == Kind::strings) return (*texts_)[i];
  if (type_.kind() == Kind::categories) return (*texts_)[static_cast<std::size_t>(values_.data<std::int64_t>()[i])];
  return visit_dtype(values_.dtype(), [&](auto zero) {
    const auto x = values_.data<decltype(zero)>()[i];
    if constexpr (std::is_class_v<decltype(zero)>) {
      return fmt::format("{}", static_cast<float>(x));
    } else {
      return fmt::format("{}", x);
    }
  });
}

}  // namespace mezzo
