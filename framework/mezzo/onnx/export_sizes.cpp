#include <mezzo/onnx/export_sizes.hpp>

#include <numeric>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

TracedNumber product(const TracedNumber& a, const TracedNumber& b) {
  TracedNumber out;
  for (std::size_t t = 0; t < a.size(); ++t) out.push_back(a[t] * b[t]);
  return out;
}

/// The fraction by which `from` must be multiplied for `number`, if it is the same in all traces.
std::optional<std::pair<std::int64_t, std::int64_t>> ratio(const TracedNumber& number, const TracedNumber& from) {
  if (from.front() == 0) return {};
  const std::int64_t divisor = std::gcd(number.front(), from.front());
  const std::int64_t up = number.front() / divisor, down = from.front() / divisor;
  for (std::size_t t = 0; t < number.size(); ++t) {
    if (number[t] * down != from[t] * up) return {};
  }
  return std::pair{up, down};
}

}  // namespace

void ExportSizes::note(const std::string& value, const TracedShape& shape) {
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (is_fixed(shape[axis])) continue;
    if (places_.emplace(shape[axis], Place{value, static_cast<std::int64_t>(axis)}).second)
      order_.push_back(shape[axis]);
  }
}

std::string ExportSizes::read(const TracedNumber& number) {
  const auto known = written_.find(number);
  if (known != written_.end()) return known->second;
  const Place& place = places_.at(number);
  const std::string name =
      graph_.add_as(DType::int64, "Shape", {place.value}, {{"start", place.axis}, {"end", place.axis + 1}});
  return written_[number] = name;
}

std::optional<std::string> ExportSizes::scaled(const TracedNumber& number, const TracedNumber& from) {
  const auto fraction = ratio(number, from);
  if (!fraction) return {};
  std::string name = places_.count(from) != 0 ? read(from) : written_.at(from);
  if (fraction->first != 1) name = graph_.add("Mul", {name, graph_.ints({fraction->first})});
  if (fraction->second != 1) name = graph_.add("Div", {name, graph_.ints({fraction->second})});
  return name;
}

std::optional<std::string> ExportSizes::computed(const TracedNumber& number) {
  for (const TracedNumber& from : order_) {
    const std::int64_t rise = number[1] - number[0], run = from[1] - from[0];
    if (run == 0 || rise % run != 0) continue;
    const std::int64_t factor = rise / run, rest = number[0] - factor * from[0];
    TracedNumber line;
    for (const std::int64_t size : from) line.push_back(factor * size + rest);
    if (line != number || factor == 0) continue;
    std::string name = read(from);
    if (factor != 1) name = graph_.add("Mul", {name, graph_.ints({factor})});
    return rest == 0 ? name : graph_.add("Add", {name, graph_.ints({rest})});
  }
  for (const TracedNumber& from : order_) {
    if (auto name = scaled(number, from)) return name;
  }
  for (const TracedNumber& a : order_) {
    for (const TracedNumber& b : order_) {
      const TracedNumber both = product(a, b);
      if (!ratio(number, both)) continue;
      written_.emplace(both, graph_.add("Mul", {read(a), read(b)}));
      return scaled(number, both);
    }
  }
  for (const TracedNumber& a : order_) {
    for (const TracedNumber& b : order_) {
      const std::int64_t rest = number[0] - a[0] - b[0];
      bool same = true;
      for (std::size_t t = 0; t < number.size(); ++t) same = same && number[t] == a[t] + b[t] + rest;
      if (!same) continue;
      const std::string sum = graph_.add("Add", {read(a), read(b)});
      return rest == 0 ? sum : graph_.add("Add", {sum, graph_.ints({rest})});
    }
  }
  return {};
}

std::string ExportSizes::one(const TracedNumber& number, const std::string& where) {
  if (is_fixed(number)) return graph_.ints({number.front()});
  if (places_.count(number) != 0) return read(number);
  const auto known = written_.find(number);
  if (known != written_.end()) return known->second;
  const auto name = computed(number);
  if (!name) {
    fail<ValueError>(where,
                     "export_onnx: a size must be a sum, a product or a quotient of open sizes; got {} for different "
                     "inputs",
                     fmt::join(number, ", "));
  }
  return written_[number] = *name;
}

std::string ExportSizes::list(const TracedShape& numbers, const std::string& where) {
  Shape fixed;
  ExportNames parts;
  const auto flush = [&] {
    if (!fixed.empty()) parts.push_back(graph_.ints(fixed));
    fixed.clear();
  };
  for (const TracedNumber& number : numbers) {
    if (is_fixed(number)) {
      fixed.push_back(number.front());
      continue;
    }
    flush();
    parts.push_back(one(number, where));
  }
  flush();
  if (parts.empty()) return graph_.ints({});
  return parts.size() == 1 ? parts.front() : graph_.add("Concat", parts, {{"axis", 0}});
}

std::string ExportSizes::scalar(const TracedNumber& number, const std::string& where) {
  if (is_fixed(number)) return graph_.constant(Tensor({}, std::vector<std::int64_t>{number.front()}));
  return graph_.add("Squeeze", {one(number, where), graph_.ints({0})});
}

std::optional<std::string> ExportSizes::share(const std::vector<double>& numbers, DType dtype) {
  const auto rounded = [&](double number) { return Tensor::scalar(number, dtype).item(); };
  for (const TracedNumber& size : order_) {
    for (const bool divided : {false, true}) {
      const auto first = static_cast<double>(size.front());
      const double factor = divided ? numbers.front() * first : numbers.front() / first;
      bool same = true;
      for (std::size_t t = 0; t < numbers.size(); ++t) {
        const auto one = static_cast<double>(size[t]);
        same = same && rounded(divided ? factor / one : factor * one) == numbers[t];
      }
      if (!same) continue;
      const std::string number = graph_.cast(scalar(size, ""), graph_.written(dtype));
      const std::string fixed = graph_.scalar(factor, graph_.written(dtype));
      return divided ? graph_.add("Div", {fixed, number}) : graph_.add("Mul", {number, fixed});
    }
  }
  return {};
}

}  // namespace mezzo::detail
