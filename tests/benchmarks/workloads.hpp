#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/data/batch.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo_bench {

/// A model and its batch, the same as in the peers' workload of that name.
struct Workload {
  std::string name;
  std::int64_t batch_size = 0;
  mezzo::Shape sample{};        ///< shape of one input: (height, width, channels), (steps, features) or (positions)
  std::int64_t classes = 0;     ///< number of logits and of labels
  std::int64_t vocabulary = 0;  ///< number of token ids; 0: the inputs are float32
  bool language = false;        ///< each position has a label and counts as an item
  std::unique_ptr<mezzo::Model> (*make_model)() = nullptr;

  /// A batch with the fields x (float32 from a normal distribution, or int64 ids) and y (int64 labels). The numbers are
  /// the same on each call.
  mezzo::HostBatch make_batch() const;

  /// Number of items in a step: pictures, sequences, texts or tokens.
  std::int64_t items() const { return language ? batch_size * sample[0] : batch_size; }
};

/// All workloads.
const std::vector<Workload>& workloads();

/// The workload of that name. An unknown name is a NameError that lists the valid ones.
const Workload& find_workload(const std::string& name);

}  // namespace mezzo_bench
