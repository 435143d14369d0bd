#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/nn/load_weights.hpp>

namespace mezzo::detail {

/// Tensors of a file: entries, and functions that read and check one by the name of its entry. `check` may be empty, as
/// after a conversion: then only read() notices damaged data.
struct WeightTable {
  std::vector<TensorEntry> entries;
  std::function<Tensor(const std::string&)> read;
  std::function<void(const std::string&)> check{};
};

/// Changes the tensors of a file, for example their number, before names are changed.
using WeightConversion = WeightTable (*)(WeightTable);

/// A file of any kind that load_weights() reads, with the names that LoadWeightsOptions make of its own. Copies share
/// the file.
class WeightSource {
 public:
  /// Opens the file. Throws a FileError that says what the file is if it is of another kind, if it is malformed, or if
  /// two of its tensors get the same name; a ValueError if a `rename` isn't a regular expression.
  /// `convert`: null for the tensors as they are.
  WeightSource(const std::string& path, const LoadWeightsOptions& options, const std::string& where,
               WeightConversion convert = nullptr);

  /// Start of error texts: `[safetensors "x.safetensors"]`.
  const std::string& label() const { return label_; }

  /// Tensors of the weights, without states of a training.
  const std::vector<TensorEntry>& entries() const { return entries_; }

  /// Entry of a name; null if there is none.
  const TensorEntry* find(const std::string& name) const;

  /// Number of a layer in the metadata, as text; null if the file has none of that name.
  const std::string* fact(const std::string& name) const;

  Tensor read(const std::string& name) const;

  /// Throws the errors of read() for damaged data, without memory for the tensor.
  void check(const std::string& name) const;

 private:
  WeightTable open_safetensors(const std::string& path);
  WeightTable open_torch(const std::string& path);
  WeightTable open_torch_shards(const std::string& path);
  void add(const TensorEntry& entry, const std::string& name);

  std::string label_, prefix_;  // prefix of weights in the file's own names
  Metadata metadata_;
  std::function<Tensor(const std::string&)> read_;
  std::function<void(const std::string&)> check_;
  std::vector<TensorEntry> entries_;                                   // with the names that the layer knows
  std::map<std::string, std::pair<std::size_t, std::string>> places_;  // by name: entry, name in the file
};

}  // namespace mezzo::detail
