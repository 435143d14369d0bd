#include <mezzo/losses/names.hpp>

#include <algorithm>

#include <mezzo/losses/crossentropy.hpp>
#include <mezzo/losses/fitting.hpp>
#include <mezzo/losses/hinge.hpp>
#include <mezzo/losses/mean_absolute_error.hpp>
#include <mezzo/losses/mean_squared_error.hpp>
#include <mezzo/losses/overlap.hpp>
#include <mezzo/losses/regression.hpp>
#include <mezzo/losses/sparse_categorical_crossentropy.hpp>

namespace mezzo {

Value detail::FittingCrossentropy::call(const Value& y_true, const Value& y_pred) const {
  const Shape &t = y_true.shape(), &p = y_pred.shape();
  if (p.empty() || p.back() == 1) return binary_crossentropy(y_true, y_pred);
  if (t.size() < p.size() || t.back() == 1) return sparse_categorical_crossentropy(y_true, y_pred);
  return categorical_crossentropy(y_true, y_pred);
}

namespace {

Any<Loss> create_fitting(const std::string& name) { return detail::FittingCrossentropy({.name = name}); }

template <class L>
Any<Loss> create(const std::string& name) {
  return L({.name = name});
}

using Rows = std::vector<NameTable<Loss>::Row>;

/// Adds the rows of a class: its name, the name of its function, and others.
template <class L>
void add(Rows& rows, std::initializer_list<const char*> names) {
  for (const char* name : names) rows.push_back({name, create<L>});
}

Rows all_rows() {
  Rows rows{{"crossentropy", create_fitting}, {"ce", create_fitting}};
  add<BinaryCrossentropy>(rows, {"BinaryCrossentropy", "binary_crossentropy", "bce", "BCE"});
  add<BinaryFocalCrossentropy>(rows, {"BinaryFocalCrossentropy", "binary_focal_crossentropy"});
  add<CategoricalCrossentropy>(rows, {"CategoricalCrossentropy", "categorical_crossentropy"});
  add<CategoricalFocalCrossentropy>(rows, {"CategoricalFocalCrossentropy", "categorical_focal_crossentropy"});
  add<CategoricalGeneralizedCrossEntropy>(
      rows, {"CategoricalGeneralizedCrossEntropy", "categorical_generalized_cross_entropy"});
  add<CategoricalHinge>(rows, {"CategoricalHinge", "categorical_hinge"});
  add<Circle>(rows, {"Circle", "circle"});
  add<CTC>(rows, {"CTC", "ctc"});
  add<CosineSimilarity>(rows, {"CosineSimilarity", "cosine_similarity"});
  add<Dice>(rows, {"Dice", "dice"});
  add<Hinge>(rows, {"Hinge", "hinge"});
  add<Huber>(rows, {"Huber", "huber"});
  add<KLDivergence>(rows, {"KLDivergence", "kl_divergence", "KLD", "kld", "kullback_leibler_divergence"});
  add<LogCosh>(rows, {"LogCosh", "log_cosh", "logcosh"});
  add<MeanAbsoluteError>(rows, {"MeanAbsoluteError", "mean_absolute_error", "MAE", "mae"});
  add<MeanAbsolutePercentageError>(rows,
                                   {"MeanAbsolutePercentageError", "mean_absolute_percentage_error", "MAPE", "mape"});
  add<MeanSquaredError>(rows, {"MeanSquaredError", "mean_squared_error", "MSE", "mse"});
  add<MeanSquaredLogarithmicError>(rows,
                                   {"MeanSquaredLogarithmicError", "mean_squared_logarithmic_error", "MSLE", "msle"});
  add<Poisson>(rows, {"Poisson", "poisson"});
  add<SparseCategoricalCrossentropy>(rows, {"SparseCategoricalCrossentropy", "sparse_categorical_crossentropy"});
  add<SquaredHinge>(rows, {"SquaredHinge", "squared_hinge"});
  add<Tversky>(rows, {"Tversky", "tversky"});
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return rows;
}

}  // namespace

const NameTable<Loss>& loss_names() {
  static const NameTable<Loss> table("loss", all_rows());
  return table;
}

}  // namespace mezzo
