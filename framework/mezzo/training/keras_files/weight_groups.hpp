#pragma once
#include <string>
#include <vector>

#include <mezzo/io/hdf5_file.hpp>
#include <mezzo/io/hdf5_writer.hpp>
#include <mezzo/nn/load_weights.hpp>
#include <mezzo/nn/weight_names.hpp>
#include <mezzo/training/keras_files/weight_paths.hpp>

namespace mezzo::detail {

/// Numbers of a file for one weight.
struct KerasNumbers {
  Variable variable;
  std::string path;   ///< of the array in the file
  bool gptq = false;  ///< true for a kernel of GPTQ, its scales and zero points
};

/// Numbers for weights, and what was skipped.
struct KerasMatch {
  std::vector<KerasNumbers> numbers{};
  LoadWeightsReport report{};  ///< paths of arrays
};

/// Finds the arrays of all weights. A FileError that lists them for arrays that are missing, of another shape, or not
/// read. `skip_mismatch`: skips layers whose arrays don't all fit, and arrays that no layer reads, with a warning that
/// lists them; a FileError if no layer is left. Nothing is assigned.
KerasMatch match_keras_weights(const std::vector<KerasWeights>& weights, const Hdf5File& file,
                               bool skip_mismatch = false);

/// Assigns the numbers.
void assign_keras_weights(const std::vector<KerasNumbers>& numbers, const Hdf5File& file);

/// The warning of skip_mismatch, or a FileError if nothing is left to load.
void report_skipped(const Findings& skipped, bool any_left, const Hdf5File& file);

/// Numbers of an array in the variable's shape and dtype.
Tensor numbers_for(const KerasNumbers& weight, const Hdf5File& file);

/// Writes the weights, float16 and bfloat16 as stored.
void write_keras_weights(const std::vector<KerasWeights>& weights, Hdf5Writer& file);

}  // namespace mezzo::detail
