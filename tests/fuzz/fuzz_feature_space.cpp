// The input is the config of a FeatureSpace in a file with right checksums, or if it isn't JSON the file itself.
#include <mezzo/io/safetensors.hpp>
#include <mezzo/layers/preprocessing/feature_space.hpp>

#include <nlohmann/json.hpp>

#include "fuzz.hpp"
#include "support/folder.hpp"

namespace {

using namespace mezzo;

/// A table with a row of values for any feature: the columns a to f.
Table any_row() {
  return Table({{"a", Tensor({1}, std::vector<double>{0.5})},
                {"b", Tensor({1}, std::vector<double>{-3})},
                {"c", Tensor({1}, std::vector<std::int64_t>{7})},
                {"d", Tensor({1}, std::vector<std::int64_t>{-1})},
                {"e", Strings{"Lyon"}},
                {"f", Strings{""}}});
}

}  // namespace

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  static const mezzo_tests::Folder folder;
  std::string path = file_of(bytes);
  if (nlohmann::json::accept(bytes.begin(), bytes.end())) {
    path = folder.path("space.mezzo");
    save_safetensors(path, {},
                     {{"format", "mezzo_feature_space"},
                      {"format_version", "1"},
                      {"config", std::string(bytes.begin(), bytes.end())}});
  }
  FeatureSpace space = FeatureSpace::load(path);
  constexpr std::int64_t most_columns = 1 << 16;
  space.adapt(any_row());
  if (space.width() > most_columns) return;
  for (const auto& entry : space.encode(any_row())) touch(entry.second);
}

std::vector<Bytes> seeds() {
  const auto seed = [](const std::string& features, const std::string& others) {
    const std::string text = R"({"class_name": "FeatureSpace", "config": {"name": "s", "dtype": null, "features": [)" +
                             features + "]" + others + "}}";
    return Bytes(text.begin(), text.end());
  };
  return {seed(R"({"name": "a", "type": "float_normalized", "adapted": true, "mean": 2, "variance": 4})", ""),
          seed(R"({"name": "a", "type": "float_discretized", "num_bins": 3, "bin_boundaries": [1, 2], "adapted": true},
                  {"name": "b", "type": "float_rescaled", "scale": 2, "offset": "nan"})",
               R"(, "fillna": [{"column": "a", "number": 1}])"),
          seed(R"({"name": "c", "type": "integer_categorical", "adapted": true, "vocabulary": ["7", "-4"]},
                  {"name": "e", "type": "string_categorical", "adapted": true, "vocabulary": ["x", "Lyon"],
                   "num_oov_indices": 2, "max_tokens": 9, "output_mode": "int"})",
               R"(, "output_mode": "dict", "crosses": [{"feature_names": ["c", "e"], "crossing_dim": 5}])"),
          seed(R"({"name": "d", "type": "integer_hashed", "num_bins": 3}, {"name": "f", "type": "string_hashed"})",
               R"(, "hashing_dim": 4, "crosses": [{"feature_names": ["d", "f"]}])")};
}

const Target target("feature_space", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
