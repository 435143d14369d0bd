#pragma once
#include <optional>
#include <string>

#include <mezzo/core/tensor.hpp>

namespace mezzo::detail {

/// Index of elements that encode_categories() leaves out.
constexpr std::int64_t no_category = -1;

/// Throws a NameError that starts with `where` unless the mode is "int" (if `with_int`), "one_hot", "multi_hot",
/// "count" or "tf_idf" (if `with_idf`).
void check_output_mode(const std::string& mode, const std::string& where, bool with_int, bool with_idf = false);

/// Shape of the encoded indices; a size may be -1.
Shape encoded_shape(const Shape& indices, const std::string& mode, std::int64_t depth);

/// Indices (int64) in Keras' output modes: "int"; "one_hot", of each element, without a last axis of size 1;
/// "multi_hot" and "count", over axis 1 (axis 0 of one axis). `weights` (float64, of the indices' shape) replaces the
/// ones of "count". Throws a ValueError that starts with `where` for an index outside [0, depth) that is not
/// no_category.
Tensor encode_categories(const Tensor& indices, const std::string& mode, std::int64_t depth, DType dtype,
                         const std::string& where, const std::optional<Tensor>& weights = std::nullopt);

}  // namespace mezzo::detail
