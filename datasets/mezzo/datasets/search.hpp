#pragma once
#include <string>
#include <vector>

namespace mezzo::datasets::detail {

/// Folders that hold the folders of data sets: that of the environment variable MEZZO_DATA, or none,
/// /usr/local/share/datasets and /usr/share/datasets.
std::vector<std::string> data_folders();

/// Returns the first folder that holds `file` or file.gz. Searches `root` and `name` in it. If `root` is "", searches
/// `name` in data_folders(), then the folders of `also`. Throws a FileError with the searched folders and `hint`.
std::string find_folder(const std::string& name, const std::string& root, const std::string& file,
                        const std::string& hint, const std::vector<std::string>& also = {});

/// Returns the path of file.gz or `file` in `folder`. Throws a FileError if neither exists.
std::string require_file(const std::string& folder, const std::string& file);

}  // namespace mezzo::datasets::detail
