#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/shape.hpp>
#include <mezzo/data/batch.hpp>
#include <mezzo/training/model/saving.hpp>

namespace mezzo::cli {

/// A model of the catalogue, and the batches that it is measured with.
struct CatalogueModel {
  std::string name;
  std::int64_t batch_size = 0;  ///< default
  Shape sample{};               ///< of an input without the batch: (height, width, channels) or (positions)
  std::int64_t classes = 0;     ///< number of logits
  std::int64_t vocabulary = 0;  ///< number of token ids; 0: the inputs are float32
  bool language = false;        ///< each position has a label
  Any<Model> (*make)(const Policy& policy) = nullptr;

  /// Random inputs and labels, the same on each call.
  HostBatch batch(std::int64_t size) const;
};

const std::vector<CatalogueModel>& catalogue_models();

/// Model of that name; null if there is none.
const CatalogueModel* find_catalogue_model(const std::string& name);

}  // namespace mezzo::cli
