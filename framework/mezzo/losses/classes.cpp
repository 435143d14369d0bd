#include <mezzo/losses/classes.hpp>

#include <mezzo/losses/crossentropy.hpp>
#include <mezzo/losses/fitting.hpp>
#include <mezzo/losses/hinge.hpp>
#include <mezzo/losses/mean_absolute_error.hpp>
#include <mezzo/losses/mean_squared_error.hpp>
#include <mezzo/losses/overlap.hpp>
#include <mezzo/losses/regression.hpp>
#include <mezzo/losses/sparse_categorical_crossentropy.hpp>

namespace mezzo {
namespace losses {

static void describe(Fields& fields, BinaryCrossentropyOptions& options) {
  fields("from_logits", options.from_logits);
  fields("label_smoothing", options.label_smoothing);
  fields("axis", options.axis);
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, BinaryFocalCrossentropyOptions& options) {
  fields("apply_class_balancing", options.apply_class_balancing);
  fields("alpha", options.alpha);
  fields("gamma", options.gamma);
  fields("from_logits", options.from_logits);
  fields("label_smoothing", options.label_smoothing);
  fields("axis", options.axis);
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, CTCOptions& options) {
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, CategoricalCrossentropyOptions& options) {
  fields("from_logits", options.from_logits);
  fields("label_smoothing", options.label_smoothing);
  fields("axis", options.axis);
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, CategoricalFocalCrossentropyOptions& options) {
  fields("alpha", options.alpha);
  fields("gamma", options.gamma);
  fields("from_logits", options.from_logits);
  fields("label_smoothing", options.label_smoothing);
  fields("axis", options.axis);
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, CategoricalGeneralizedCrossEntropyOptions& options) {
  fields("q", options.q);
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, CategoricalHingeOptions& options) {
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, CircleOptions& options) {
  fields("gamma", options.gamma);
  fields("margin", options.margin);
  fields("remove_diagonal", options.remove_diagonal);
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, CosineSimilarityOptions& options) {
  fields("axis", options.axis);
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, DiceOptions& options) {
  fields("reduction", options.reduction);
  fields("name", options.name);
  fields("axis", options.axis);
}

static void describe(Fields& fields, HingeOptions& options) {
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, HuberOptions& options) {
  fields("delta", options.delta);
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, KLDivergenceOptions& options) {
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, LogCoshOptions& options) {
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, MeanAbsoluteErrorOptions& options) {
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, MeanAbsolutePercentageErrorOptions& options) {
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, MeanSquaredErrorOptions& options) {
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, MeanSquaredLogarithmicErrorOptions& options) {
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, PoissonOptions& options) {
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, SparseCategoricalCrossentropyOptions& options) {
  fields("from_logits", options.from_logits);
  fields("ignore_class", options.ignore_class);
  fields("reduction", options.reduction);
  fields("axis", options.axis);
  fields("name", options.name);
}

static void describe(Fields& fields, SquaredHingeOptions& options) {
  fields("reduction", options.reduction);
  fields("name", options.name);
}

static void describe(Fields& fields, TverskyOptions& options) {
  fields("alpha", options.alpha);
  fields("beta", options.beta);
  fields("reduction", options.reduction);
  fields("name", options.name);
  fields("axis", options.axis);
}

}  // namespace losses

namespace detail {

static void describe(Fields& fields, FittingOptions& options) {
  fields("reduction", options.reduction);
  fields("name", options.name);
}

}  // namespace detail

namespace {

/// `more`: further names beside those of Keras.
template <class L, class Options>
detail::NamedClass<Loss> named(const std::string& name, std::vector<std::string> more = {}) {
  return detail::with_names<L>(detail::saved_class<L, Options, Loss>(name), detail::keras_names(name, std::move(more)));
}

}  // namespace

std::vector<detail::NamedClass<Loss>> loss_classes() {
  return {detail::with_names<detail::FittingCrossentropy>(
              detail::saved_class<detail::FittingCrossentropy, detail::FittingOptions, Loss>("Crossentropy"),
              {"crossentropy", "ce"}),
          named<losses::BinaryCrossentropy, losses::BinaryCrossentropyOptions>("BinaryCrossentropy", {"bce", "BCE"}),
          named<losses::BinaryFocalCrossentropy, losses::BinaryFocalCrossentropyOptions>("BinaryFocalCrossentropy"),
          named<losses::CTC, losses::CTCOptions>("CTC"),
          named<losses::CategoricalCrossentropy, losses::CategoricalCrossentropyOptions>("CategoricalCrossentropy"),
          named<losses::CategoricalFocalCrossentropy, losses::CategoricalFocalCrossentropyOptions>(
              "CategoricalFocalCrossentropy"),
          named<losses::CategoricalGeneralizedCrossEntropy, losses::CategoricalGeneralizedCrossEntropyOptions>(
              "CategoricalGeneralizedCrossEntropy"),
          named<losses::CategoricalHinge, losses::CategoricalHingeOptions>("CategoricalHinge"),
          named<losses::Circle, losses::CircleOptions>("Circle"),
          named<losses::CosineSimilarity, losses::CosineSimilarityOptions>("CosineSimilarity"),
          named<losses::Dice, losses::DiceOptions>("Dice"),
          named<losses::Hinge, losses::HingeOptions>("Hinge"),
          named<losses::Huber, losses::HuberOptions>("Huber"),
          named<losses::KLDivergence, losses::KLDivergenceOptions>("KLDivergence",
                                                                   {"KLD", "kld", "kullback_leibler_divergence"}),
          named<losses::LogCosh, losses::LogCoshOptions>("LogCosh", {"logcosh"}),
          named<losses::MeanAbsoluteError, losses::MeanAbsoluteErrorOptions>("MeanAbsoluteError", {"MAE", "mae"}),
          named<losses::MeanAbsolutePercentageError, losses::MeanAbsolutePercentageErrorOptions>(
              "MeanAbsolutePercentageError", {"MAPE", "mape"}),
          named<losses::MeanSquaredError, losses::MeanSquaredErrorOptions>("MeanSquaredError", {"MSE", "mse"}),
          named<losses::MeanSquaredLogarithmicError, losses::MeanSquaredLogarithmicErrorOptions>(
              "MeanSquaredLogarithmicError", {"MSLE", "msle"}),
          named<losses::Poisson, losses::PoissonOptions>("Poisson"),
          named<losses::SparseCategoricalCrossentropy, losses::SparseCategoricalCrossentropyOptions>(
              "SparseCategoricalCrossentropy"),
          named<losses::SquaredHinge, losses::SquaredHingeOptions>("SquaredHinge"),
          named<losses::Tversky, losses::TverskyOptions>("Tversky")};
}

}  // namespace mezzo
