#pragma once
#include <string>
#include <vector>

#include <mezzo/nn/load_weights.hpp>
#include <mezzo/nn/weight_names.hpp>
#include <mezzo/nn/weight_source.hpp>

namespace mezzo::detail {

/// A weight of a layer with its tensor in a file.
struct WeightMatch {
  const FileWeight* weight;
  std::string name;
  std::string second{};  ///< name of the second part of a weight in two parts; "": the weight is one tensor
};

/// Pairs of weights and tensors of a file, and what doesn't fit.
struct WeightMatching {
  std::vector<WeightMatch> matches;
  LoadWeightsReport report;  ///< tensors that are missing, unexpected or of another dtype or shape
  Findings misfits;          ///< texts of these, without those of other shapes
  Findings dtypes;           ///< texts of tensors of other dtypes, which are misfits too
  Findings shapes;           ///< texts of tensors of other shapes, and of codes of other forms
  Findings parts;            ///< texts of tensors that are left out since a quantized weight needs others with them
  Findings contradictions;   ///< tensors and numbers that contradict the layer, an error under all options
};

/// Pairs the weights with the tensors of a file, which must outlive the result.
WeightMatching match_weights(const WeightSource& file, const FileWeights& expected);

}  // namespace mezzo::detail
