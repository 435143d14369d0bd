#pragma once
#include <string>
#include <vector>

#include <mezzo/io/hdf5_file.hpp>
#include <mezzo/io/hdf5_writer.hpp>
#include <mezzo/training/keras_files/weight_paths.hpp>

namespace mezzo::detail {

/// Numbers of a file for one weight.
struct KerasNumbers {
  Variable variable;
  std::string path;  ///< of the array in the file
};

/// Finds the arrays of all weights. A FileError that lists them for arrays that are missing, of another shape, or not
/// read. Nothing is assigned.
std::vector<KerasNumbers> match_keras_weights(const std::vector<KerasWeights>& weights, const Hdf5File& file);

/// Numbers of an array in the variable's shape and dtype.
Tensor numbers_for(const KerasNumbers& weight, const Hdf5File& file);

/// Writes the weights, float16 and bfloat16 as stored.
void write_keras_weights(const std::vector<KerasWeights>& weights, Hdf5Writer& file);

}  // namespace mezzo::detail
