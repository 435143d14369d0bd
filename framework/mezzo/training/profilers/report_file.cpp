#include <mezzo/training/profilers/report_file.hpp>

#include <filesystem>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/io/check_path.hpp>

namespace mezzo::detail {
namespace fs = std::filesystem;

ReportFile::ReportFile(std::string where, const std::string& dirpath, const std::string& filename,
                       const std::string& extension)
    : where_(std::move(where)) {
  check_path(dirpath, where_);
  check_path(filename, where_);
  if (!filename.empty()) path_ = (fs::path(dirpath) / (filename + extension)).string();
  if (filename.empty() && !dirpath.empty()) {
    fail<ValueError>(where_, "dirpath needs a filename; got dirpath \"{}\" alone", dirpath);
  }
}

void ReportFile::write(std::string_view text) {
  if (path_.empty()) return write_output(std::string(text));
  if (!file_) {
    const fs::path folder = fs::path(path_).parent_path();
    std::error_code error;
    if (!folder.empty()) fs::create_directories(folder, error);
    if (error) fail<FileError>(where_, "folder \"{}\" can't be made: {}", folder.string(), error.message());
    if (fs::is_regular_file(path_, error)) fs::resize_file(path_, 0, error);
    file_ = std::make_unique<AppendFile>(path_, where_);
  }
  file_->write(text);
}

void ReportFile::drop(std::size_t bytes) {
  std::error_code error;
  const auto size = fs::file_size(path_, error);
  if (!error) fs::resize_file(path_, size - bytes, error);
  if (error) fail<FileError>(where_, "\"{}\": can't be continued: {}", path_, error.message());
}

}  // namespace mezzo::detail
