#include <mezzo/data/skipped_files.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::detail {

std::string SkippedFiles::reason(const std::string& other) const {
  return fmt::format("files must be {}; got \"{}\"", fmt::join(options_.endings, ", "), other);
}

void SkippedFiles::add_other(const std::string& path) {
  if (options_.unreadable.empty()) return;
  if (options_.unreadable == "error") fail<FileError>(options_.where, "{}", reason(path));
  paths_.push_back(path);
}

void SkippedFiles::verify(FolderFiles& files) {
  const auto count = static_cast<std::int64_t>(options_.verify ? files.paths.size() : 0);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(count));
  parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      try {
        options_.verify(files.paths[i]);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  });
  std::sort(paths_.begin(), paths_.end());
  std::string first = paths_.empty() ? "" : reason(paths_.front());
  FolderFiles kept = files;
  kept.paths.clear();
  kept.labels.clear();
  for (std::size_t i = 0; i < errors.size(); ++i) {
    try {
      if (errors[i]) std::rethrow_exception(errors[i]);
      kept.paths.push_back(files.paths[i]);
      if (files.labelled()) kept.labels.push_back(files.labels[i]);
    } catch (const MemoryError&) {
      throw;
    } catch (const Error& error) {
      if (options_.unreadable == "error") throw;
      if (paths_.empty()) first = error.what();
      paths_.push_back(files.paths[i]);
    }
  }
  if (count > 0) files = std::move(kept);
  if (!paths_.empty()) {
    warn(
        fmt::format("{} {} files can't be read and are left out; the first: {}", options_.where, paths_.size(), first));
  }
}

}  // namespace mezzo::detail
