#include <mezzo/data/encode_categories.hpp>

#include <algorithm>
#include <vector>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

void check_output_mode(const std::string& mode, const std::string& where, bool with_int, bool with_idf) {
  std::vector<std::string> names{"count", "multi_hot", "one_hot"};
  if (with_int) names.insert(names.begin() + 1, "int");
  if (with_idf) names.emplace_back("tf_idf");
  if (std::find(names.begin(), names.end(), mode) != names.end()) return;
  fail_unknown(where, "output_mode", mode, names);
}

Shape encoded_shape(const Shape& indices, const std::string& mode, std::int64_t depth) {
  if (mode == "int") return indices;
  Shape shape = indices;
  if (mode == "one_hot") {
    if (shape.size() > 1 && shape.back() == 1) shape.pop_back();
  } else if (!shape.empty()) {
    shape.erase(shape.begin() + (shape.size() > 1 ? 1 : 0));
  }
  shape.push_back(depth);
  return shape;
}

Tensor encode_categories(const Tensor& indices, const std::string& mode, std::int64_t depth, DType dtype,
                         const std::string& where, const std::optional<Tensor>& weights) {
  if (mode == "int") return indices.cast(dtype);
  const auto* index = indices.data<std::int64_t>();
  const double* weight = weights ? weights->data<double>() : nullptr;
  Tensor out(encoded_shape(indices.shape(), mode, depth), DType::float64);
  auto* rows = out.mutable_data<double>();
  const Shape& shape = indices.shape();
  // Indices (outer, summed, inner); one-hot rows are of single elements.
  const bool summed = mode != "one_hot" && !shape.empty();
  const std::size_t axis = shape.size() > 1 ? 1 : 0;
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; summed && i < shape.size(); ++i) inner *= shape[i];
  const std::int64_t many = summed ? shape[axis] : 1;
  for (std::int64_t i = 0; i < indices.size(); ++i) {
    if (index[i] == no_category) continue;
    if (index[i] < 0 || index[i] >= depth) {
      fail<ValueError>(where, "indices must lie in [0, {}); got {}", depth, index[i]);
    }
    const std::int64_t row = i / (many * inner) * inner + i % inner;
    double& cell = rows[row * depth + index[i]];
    cell = mode == "count" ? cell + (weight == nullptr ? 1 : weight[i]) : 1;
  }
  return out.cast(dtype);
}

}  // namespace mezzo::detail
