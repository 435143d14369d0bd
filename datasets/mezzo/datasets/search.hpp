#pragma once
#include <string>
#include <vector>

namespace mezzo::datasets::detail {

// The folder that holds `file` (or file.gz): `root` itself or `name` in it or, if `root` is "", `name` in the
// environment's MEZZO_DATA, in a prefix's share/datasets, or one of `also`. A FileError that lists the places and
// `hint` otherwise.
std::string find_folder(const std::string& name, const std::string& root, const std::string& file,
                        const std::string& hint, const std::vector<std::string>& also = {});

// The path of `file` or file.gz in `folder`; a FileError if neither is there.
std::string require_file(const std::string& folder, const std::string& file);

}  // namespace mezzo::datasets::detail
