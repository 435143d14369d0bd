#include <mezzo/layers/preprocessing/hashed_crossing.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/encode_categories.hpp>
#include <mezzo/data/text/hashes.hpp>
#include <mezzo/layers/preprocessing/joined_hash.hpp>
#include <mezzo/layers/preprocessing/preprocessing.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {
namespace {

const Shape& shape_of(const HashedCrossing::Column& column) {
  return std::visit([](const auto& x) -> const Shape& { return x.shape(); }, column);
}

void check_crossed(const std::string& where, const std::vector<Shape>& shapes) {
  if (shapes.size() < 2) fail<ValueError>(where, "inputs must be two or more; got {}", shapes.size());
  const Shape& first = shapes.front();
  if (first.size() > 2 || (first.size() == 2 && first[1] != 1)) {
    fail<ShapeError>(where, "inputs must have shape (), (batch) or (batch, 1); got shape {}", first);
  }
  for (const Shape& shape : shapes) {
    if (shape != first) fail<ShapeError>(where, "inputs must have one shape; got {} and {}", first, shape);
  }
}

/// Hash of each element of a column.
std::vector<std::uint64_t> hashes_of(const HashedCrossing::Column& column, const std::string& where) {
  std::vector<std::uint64_t> hashes;
  if (const auto* const texts = std::get_if<Strings>(&column)) {
    for (const std::string& text : texts->values()) hashes.push_back(detail::farm_hash(text));
    return hashes;
  }
  const Tensor& given = std::get<Tensor>(column);
  if (is_floating(given.dtype())) fail<DTypeError>(where, "inputs must be integers or strings; got {}", given.dtype());
  const Tensor numbers = given.cast(DType::int64);
  const auto* const begin = numbers.data<std::int64_t>();
  std::transform(begin, begin + numbers.size(), std::back_inserter(hashes),
                 [](std::int64_t number) { return static_cast<std::uint64_t>(number); });
  return hashes;
}

Tensor crossed(const std::vector<HashedCrossing::Column>& columns, const HashedCrossingOptions& options, DType dtype,
               const std::string& where) {
  Tensor bins(shape_of(columns.front()), DType::int64);
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(bins.size()), detail::first_crossed_hash);
  for (const HashedCrossing::Column& column : columns) {
    const std::vector<std::uint64_t> others = hashes_of(column, where);
    for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = detail::joined_hash(hashes[i], others[i]);
  }
  auto* const out = bins.mutable_data<std::int64_t>();
  const auto count = static_cast<std::uint64_t>(options.num_bins);
  for (std::size_t i = 0; i < hashes.size(); ++i) out[i] = static_cast<std::int64_t>(hashes[i] % count);
  return detail::encode_categories(bins, options.output_mode, options.num_bins, dtype, where);
}

}  // namespace

HashedCrossing::HashedCrossing(HashedCrossingOptions options)
    : Layer("HashedCrossing", options), options_(std::move(options)) {
  detail::require_positive(label(), "num_bins", options_.num_bins);
  if (options_.output_mode != "int" && options_.output_mode != "one_hot") {
    fail_unknown(label(), "output_mode", options_.output_mode, {"int", "one_hot"});
  }
}

Tensor HashedCrossing::of_columns(const std::vector<Column>& columns) const {
  std::vector<Shape> shapes;
  for (const Column& column : columns) shapes.push_back(shape_of(column));
  check_crossed(label(), shapes);
  return crossed(columns, options_, options_.output_mode == "int" ? DType::int64 : DType::float32, label());
}

Values HashedCrossing::call_many(const Values& xs) {
  std::vector<Shape> shapes;
  for (const Value& x : xs) shapes.push_back(x.shape());
  check_crossed(label(), shapes);
  const DType dtype = options_.output_mode == "int" ? DType::int64 : compute_dtype();
  const auto shape = [mode = options_.output_mode, depth = options_.num_bins](const Shape& given) {
    return detail::encoded_shape(given, mode, depth);
  };
  return {
      detail::on_host(xs, shape, dtype, [options = options_, dtype, where = label()](const std::vector<Tensor>& given) {
        return crossed({given.begin(), given.end()}, options, dtype, where);
      })};
}

}  // namespace mezzo
