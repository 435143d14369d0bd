#pragma once
#include <string>
#include <vector>

#include <mezzo/io/hdf5_file.hpp>
#include <mezzo/io/hdf5_writer.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo::detail {

/// Restores the state of a compiled model's optimizer from the arrays that Keras 3 writes, in the order of its
/// variables. The weights must have been restored. True if the file has such a state. A FileError for another number of
/// arrays or other shapes.
bool read_optimizer_variables(Model& model, const Hdf5File& file);

/// Writes the state of a trained model's optimizer.
void write_optimizer_variables(Model& model, Hdf5Writer& file);

}  // namespace mezzo::detail
