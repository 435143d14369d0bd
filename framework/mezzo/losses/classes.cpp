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

template <class L, class Options>
detail::SavedClass<Loss> saved(const char* name) {
  return detail::saved_class<L, Options, Loss>(name);
}

}  // namespace

std::vector<detail::SavedClass<Loss>> loss_classes() {
  return {saved<detail::FittingCrossentropy, detail::FittingOptions>("Crossentropy"),
          saved<losses::BinaryCrossentropy, losses::BinaryCrossentropyOptions>("BinaryCrossentropy"),
          saved<losses::BinaryFocalCrossentropy, losses::BinaryFocalCrossentropyOptions>("BinaryFocalCrossentropy"),
          saved<losses::CTC, losses::CTCOptions>("CTC"),
          saved<losses::CategoricalCrossentropy, losses::CategoricalCrossentropyOptions>("CategoricalCrossentropy"),
          saved<losses::CategoricalFocalCrossentropy, losses::CategoricalFocalCrossentropyOptions>(
              "CategoricalFocalCrossentropy"),
          saved<losses::CategoricalGeneralizedCrossEntropy, losses::CategoricalGeneralizedCrossEntropyOptions>(
              "CategoricalGeneralizedCrossEntropy"),
          saved<losses::CategoricalHinge, losses::CategoricalHingeOptions>("CategoricalHinge"),
          saved<losses::Circle, losses::CircleOptions>("Circle"),
          saved<losses::CosineSimilarity, losses::CosineSimilarityOptions>("CosineSimilarity"),
          saved<losses::Dice, losses::DiceOptions>("Dice"),
          saved<losses::Hinge, losses::HingeOptions>("Hinge"),
          saved<losses::Huber, losses::HuberOptions>("Huber"),
          saved<losses::KLDivergence, losses::KLDivergenceOptions>("KLDivergence"),
          saved<losses::LogCosh, losses::LogCoshOptions>("LogCosh"),
          saved<losses::MeanAbsoluteError, losses::MeanAbsoluteErrorOptions>("MeanAbsoluteError"),
          saved<losses::MeanAbsolutePercentageError, losses::MeanAbsolutePercentageErrorOptions>(
              "MeanAbsolutePercentageError"),
          saved<losses::MeanSquaredError, losses::MeanSquaredErrorOptions>("MeanSquaredError"),
          saved<losses::MeanSquaredLogarithmicError, losses::MeanSquaredLogarithmicErrorOptions>(
              "MeanSquaredLogarithmicError"),
          saved<losses::Poisson, losses::PoissonOptions>("Poisson"),
          saved<losses::SparseCategoricalCrossentropy, losses::SparseCategoricalCrossentropyOptions>(
              "SparseCategoricalCrossentropy"),
          saved<losses::SquaredHinge, losses::SquaredHingeOptions>("SquaredHinge"),
          saved<losses::Tversky, losses::TverskyOptions>("Tversky")};
}

}  // namespace mezzo
