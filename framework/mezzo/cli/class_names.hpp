#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>

namespace mezzo::cli {

/// Writes class_names.json, the names by label, into a run folder; removes it if there are no names. A FileError if it
/// can't.
void write_class_names(const std::string& run_dir, const std::vector<std::string>& names);

/// The names in a run folder; {} if it has none, or is a file. A FileError for a file that is no list of texts.
std::vector<std::string> read_class_names(const std::string& run_dir);

/// True for outputs with one score per class.
bool has_scores(const Tensor& outputs, const std::vector<std::string>& names);

/// Class with the largest score of each sample. A ValueError for a sample with a NaN.
std::vector<std::size_t> best_classes(const Tensor& scores);

/// Writes a table with the columns "file" (without `files`: left out) and "label", the name of the sample's class in
/// `best`, and the scores in a column per class. Numbers of float64 have up to 17 digits, others up to 9.
void write_labels(const std::string& path, const Tensor& scores, const std::vector<std::size_t>& best,
                  const std::vector<std::string>& names, const std::vector<std::string>& files);

}  // namespace mezzo::cli
