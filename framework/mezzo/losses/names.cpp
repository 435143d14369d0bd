#include <mezzo/losses/names.hpp>

#include <mezzo/losses/mean_absolute_error.hpp>
#include <mezzo/losses/mean_squared_error.hpp>
#include <mezzo/losses/sparse_categorical_crossentropy.hpp>

namespace mezzo {
namespace {

template <class L>
Any<Loss> create(const std::string& name) {
  return L({.name = name});
}

}  // namespace

const NameTable<Loss>& loss_names() {
  static const NameTable<Loss> table("loss",
                                     {{"MAE", create<MeanAbsoluteError>},
                                      {"MSE", create<MeanSquaredError>},
                                      {"MeanAbsoluteError", create<MeanAbsoluteError>},
                                      {"MeanSquaredError", create<MeanSquaredError>},
                                      {"SparseCategoricalCrossentropy", create<SparseCategoricalCrossentropy>},
                                      {"mae", create<MeanAbsoluteError>},
                                      {"mean_absolute_error", create<MeanAbsoluteError>},
                                      {"mean_squared_error", create<MeanSquaredError>},
                                      {"mse", create<MeanSquaredError>},
                                      {"sparse_categorical_crossentropy", create<SparseCategoricalCrossentropy>}});
  return table;
}

}  // namespace mezzo
