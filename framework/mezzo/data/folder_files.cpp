#include <mezzo/data/folder_files.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/data/skipped_files.hpp>
#include <mezzo/io/check_path.hpp>

namespace mezzo::detail {
namespace {

namespace fs = std::filesystem;

std::string ending_of(const fs::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return ending;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Folders that were entered, by device and inode: links may lead to the same one again.
class Visited {
 public:
  /// False if the folder was entered before. True if its number is not known.
  bool enter(const fs::path& folder) {
    struct stat status {};
    return ::stat(folder.c_str(), &status) != 0 || folders_.emplace(status.st_dev, status.st_ino).second;
  }

 private:
  std::set<std::pair<dev_t, ino_t>> folders_;
};

/// Folders inside of a folder, each entered once: folders that are not links first, by name.
std::vector<fs::path> folders_below(const fs::path& top, bool follow_links, std::error_code& error) {
  Visited visited;
  std::vector<fs::path> found{top};
  visited.enter(top);
  for (std::size_t i = 0; i < found.size() && !error; ++i) {
    std::vector<std::pair<bool, fs::path>> inside;
    for (fs::directory_iterator it(found[i], error); !error && it != fs::directory_iterator(); it.increment(error)) {
      std::error_code ignored;
      const bool link = it->is_symlink(ignored);
      if (it->is_directory(ignored) && (follow_links || !link)) inside.emplace_back(link, it->path());
    }
    std::sort(inside.begin(), inside.end());
    for (auto& entry : inside) {
      if (visited.enter(entry.second)) found.push_back(std::move(entry.second));
    }
  }
  return found;
}

/// Files below a folder: by folder, then by name. Adds those that can't be read to `skipped`.
std::vector<std::string> files_below(const fs::path& folder, const FolderOptions& options, SkippedFiles& skipped) {
  std::map<std::string, std::vector<std::string>> found;
  std::error_code error;
  const auto take = [&](const fs::directory_entry& entry) {
    std::error_code ignored;
    if (!entry.is_regular_file(ignored)) return;
    const fs::path& path = entry.path();
    const std::string ending = ending_of(path);
    if (contains(options.endings, ending)) {
      found[path.parent_path().string()].push_back(path.string());
    } else if (path.filename().string().front() != '.') {
      skipped.add_other(path.string());
    }
  };
  for (const fs::path& inside : folders_below(folder, options.follow_links, error)) {
    for (fs::directory_iterator it(inside, error); !error && it != fs::directory_iterator(); it.increment(error)) {
      take(*it);
    }
    if (error) break;
  }
  if (error) fail<FileError>(options.where, "\"{}\" can't be listed: {}", folder.string(), error.message());
  std::vector<std::string> paths;
  for (auto& [name, files] : found) {
    std::sort(files.begin(), files.end());
    paths.insert(paths.end(), files.begin(), files.end());
  }
  return paths;
}

std::vector<std::string> classes_of(const std::string& directory, const FolderOptions& options) {
  std::vector<std::string> folders;
  std::error_code error;
  for (fs::directory_iterator it(directory, error); !error && it != fs::directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    const std::string name = it->path().filename().string();
    if (it->is_directory(ignored) && name.front() != '.') folders.push_back(name);
  }
  if (error) fail<FileError>(options.where, "\"{}\" can't be listed: {}", directory, error.message());
  std::sort(folders.begin(), folders.end());
  if (!options.class_names) return folders;
  std::set<std::string> given;
  for (const std::string& name : *options.class_names) {
    if (!contains(folders, name)) {
      fail<NameError>(options.where, "unknown class \"{}\"; folders of \"{}\": {}", name, directory,
                      fmt::join(folders, ", "));
    }
    if (!given.insert(name).second) fail<NameError>(options.where, "class_names must differ; got \"{}\" twice", name);
  }
  return *options.class_names;
}

void check_options(const FolderOptions& options) {
  const auto& where = options.where;
  const auto name_of = [&](const char* option, const std::string& given, const std::vector<std::string>& valid) {
    if (!contains(valid, given)) fail_unknown(where, option, given, valid);
  };
  if (options.labels.name()) name_of("labels", *options.labels.name(), {"inferred"});
  if (options.label_mode) name_of("label_mode", *options.label_mode, {"binary", "categorical", "int"});
  if (options.subset) name_of("subset", *options.subset, {"training", "validation"});
  if (!options.unreadable.empty()) name_of("unreadable", options.unreadable, {"error", "skip"});
  if (options.validation_split && !(*options.validation_split > 0 && *options.validation_split < 1)) {
    fail<ValueError>(where, "validation_split must lie in (0, 1); got {}", *options.validation_split);
  }
  if (options.validation_split.has_value() != options.subset.has_value()) {
    fail<ValueError>(where, "validation_split and subset must be given together; got {} alone",
                     options.subset ? "subset" : "validation_split");
  }
  if (options.validation_split && options.shuffle && !options.seed) {
    fail<ValueError>(where, "seed must be given with validation_split and shuffle: the parts must not overlap");
  }
  if (options.class_names && !(options.labels.name() && options.label_mode)) {
    fail<ValueError>(where, "class_names must be given with labels \"inferred\" only");
  }
}

void shuffle_files(FolderFiles& files, std::uint64_t given) {
  std::vector<std::size_t> order(files.paths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::uint64_t> keys;
  const std::uint64_t key = mix(key_of("folder_files"), given);
  for (const std::size_t i : order) {
    const auto words = philox(key, i);
    keys.push_back((std::uint64_t{words[0]} << 32U) | words[1]);
  }
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
  const FolderFiles sorted = files;
  for (std::size_t i = 0; i < order.size(); ++i) {
    files.paths[i] = sorted.paths[order[i]];
    if (files.labelled()) files.labels[i] = sorted.labels[order[i]];
  }
}

/// Files [begin, end).
FolderFiles part_of(const FolderFiles& files, std::size_t begin, std::size_t end, const FolderOptions& options) {
  const auto cut = [&](auto& list) {
    if (!list.empty()) list = {list.begin() + static_cast<long>(begin), list.begin() + static_cast<long>(end)};
  };
  FolderFiles part = files;
  cut(part.paths);
  cut(part.labels);
  if (part.paths.empty()) {
    fail<ValueError>(options.where, "the part must have files: {} files, validation_split {}", files.paths.size(),
                     options.validation_split.value_or(0));
  }
  return part;
}

FolderFiles all_files(const std::string& directory, const FolderOptions& options) {
  FolderFiles files;
  SkippedFiles skipped(options);
  require_directory(directory, options.where);
  const bool labelled = options.label_mode && (options.labels.name() || options.labels.labels());
  if (labelled) files.label_mode = *options.label_mode;
  if (labelled && options.labels.name()) {
    const std::vector<std::string> classes = classes_of(directory, options);
    for (std::size_t c = 0; c < classes.size(); ++c) {
      for (std::string& path : files_below(fs::path(directory) / classes[c], options, skipped)) {
        files.paths.push_back(std::move(path));
        files.labels.push_back(static_cast<std::int64_t>(c));
      }
    }
    files.class_names = classes;
  } else {
    files.paths = files_below(directory, options, skipped);
  }
  if (labelled && options.labels.labels()) {
    files.labels = *options.labels.labels();
    if (files.labels.size() != files.paths.size()) {
      fail<ValueError>(options.where, "labels must have one number for each of {} files; got {}", files.paths.size(),
                       files.labels.size());
    }
    const std::set<std::int64_t> different(files.labels.begin(), files.labels.end());
    for (const std::int64_t label : different) files.class_names.push_back(std::to_string(label));
    const auto classes = static_cast<std::int64_t>(different.size());
    const auto bad = std::find_if(different.begin(), different.end(),
                                  [classes](std::int64_t label) { return label < 0 || label >= classes; });
    if (files.label_mode != "int" && bad != different.end()) {
      fail<ValueError>(options.where, "labels of {} classes must lie in [0, {}) for label_mode \"{}\"; got {}", classes,
                       classes, files.label_mode, *bad);
    }
  }
  skipped.verify(files);
  files.skipped = skipped.paths();
  if (files.paths.empty()) {
    fail<FileError>(options.where, "\"{}\" must have files {}{}; there is none", directory,
                    fmt::join(options.endings, ", "), labelled && options.labels.name() ? " in sub-folders" : "");
  }
  if (files.label_mode == "binary" && files.class_names.size() != 2) {
    fail<ValueError>(options.where, "label_mode \"binary\" must have 2 classes; got {}: {}", files.class_names.size(),
                     fmt::join(files.class_names, ", "));
  }
  if (options.shuffle) shuffle_files(files, options.seed.value_or(seed()));
  return files;
}

/// Number of files before the validation part.
std::size_t training_count(const FolderFiles& files, const FolderOptions& options) {
  const auto count = static_cast<double>(files.paths.size());
  return files.paths.size() - static_cast<std::size_t>(*options.validation_split * count);
}

}  // namespace

Field FolderFiles::label_field() const {
  if (label_mode == "int") return {"label", {}, DType::int32, Role::target};
  const auto classes = static_cast<std::int64_t>(label_mode == "binary" ? 1 : class_names.size());
  return {"label", {classes}, DType::float32, Role::target};
}

Tensor FolderFiles::label(std::size_t file) const {
  const Field field = label_field();
  if (label_mode != "categorical") {
    return Tensor::scalar(static_cast<double>(labels[file]), field.dtype).reshape(field.shape);
  }
  Tensor row(field.shape, field.dtype);
  row.mutable_data<float>()[labels[file]] = 1;
  return row;
}

FolderFiles folder_files(const std::string& directory, const FolderOptions& options) {
  check_options(options);
  const FolderFiles files = all_files(directory, options);
  if (!options.subset) return files;
  const std::size_t count = training_count(files, options);
  return *options.subset == "training" ? part_of(files, 0, count, options)
                                       : part_of(files, count, files.paths.size(), options);
}

std::pair<FolderFiles, FolderFiles> both_folder_files(const std::string& directory, FolderOptions options) {
  if (options.subset) fail<ValueError>(options.where, "subset must be left out; got \"{}\"", *options.subset);
  if (!options.validation_split) fail<ValueError>(options.where, "validation_split must be given for two parts");
  options.subset = "training";
  check_options(options);
  const FolderFiles files = all_files(directory, options);
  const std::size_t count = training_count(files, options);
  return {part_of(files, 0, count, options), part_of(files, count, files.paths.size(), options)};
}

}  // namespace mezzo::detail
