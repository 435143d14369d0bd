#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/data/batch.hpp>
#include <mezzo/training/model.hpp>

namespace mezzo_bench {

/// A model and the batch that it is trained on, both the same as the peers' of that name.
struct Workload {
  std::string name;
  std::int64_t batch_size = 0;
  mezzo::Shape sample{};        ///< shape of one input: height, width, channels; or positions
  std::int64_t classes = 0;     ///< logits of the model, labels of the batch
  std::int64_t vocabulary = 0;  ///< inputs are ids below it; 0: pictures
  bool language = false;        ///< each position has a label, and counts as an item
  std::unique_ptr<mezzo::Model> (*make_model)() = nullptr;

  /// Fields x, float32 from a normal distribution or int64 ids, and y, int64 labels; always the same numbers.
  mezzo::HostBatch make_batch() const;

  /// What is counted in a step: pictures, texts or tokens.
  std::int64_t items() const { return language ? batch_size * sample[0] : batch_size; }
};

/// All of them.
const std::vector<Workload>& workloads();

/// The one of that name; a NameError that lists the names otherwise.
const Workload& find_workload(const std::string& name);

}  // namespace mezzo_bench
