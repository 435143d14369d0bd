#include <mezzo/nn/weight_source.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/pattern.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/open_file.hpp>
#include <mezzo/io/shard_index.hpp>
#include <mezzo/io/torch_file.hpp>
#include <mezzo/nn/file_formats.hpp>

namespace mezzo::detail {
namespace {

constexpr const char *version_name = "format_version", *format_name = "format", *weight_version = "1";
constexpr const char *weight_prefix = "model.", *checkpoint_format_version = "2";

// Keys under which programs with PyTorch, and Lightning, keep the weights beside states of the training.
constexpr const char* state_dict_prefixes[] = {"state_dict.", "model_state_dict."};

bool begins_with(const std::string& text, const std::string& prefix) { return text.rfind(prefix, 0) == 0; }

void check_weight_version(const SafetensorsFile& file, const std::string& format, const std::string& label) {
  const auto found = file.metadata().find(version_name);
  if (found == file.metadata().end()) return;
  // The weights of a checkpoint are the same in all versions.
  const bool checkpoint = format == file_formats::checkpoint && found->second == checkpoint_format_version;
  if (found->second != weight_version && !checkpoint) {
    fail<FileError>(label, "format_version must be {}; got \"{}\"", weight_version, found->second);
  }
  if (file.checksums() == SafetensorsFile::Checksums::none) {
    fail<FileError>(label, "a file with format_version must have the metadata entry crc32; got none");
  }
}

/// Changes of names by the options.
class Renaming {
 public:
  Renaming(const LoadWeightsOptions& options, const std::string& where) : prefixes_(options.strip_prefixes) {
    for (const std::string& prefix : prefixes_) {
      if (prefix.empty()) fail<ValueError>(where, "load_weights: strip_prefixes must not be empty texts; got one");
    }
    for (const auto& [pattern, replacement] : options.rename) {
      try {
        rules_.emplace_back(Pattern(pattern), replacement);
      } catch (const std::runtime_error& error) {
        fail<ValueError>(where, "load_weights: rename must have regular expressions; got \"{}\" ({})", pattern,
                         error.what());
      }
    }
  }

  std::string operator()(std::string name) const {
    const auto is_prefix = [&](const std::string& prefix) { return begins_with(name, prefix); };
    for (auto found = prefixes_.begin(); found != prefixes_.end();) {
      found = std::find_if(prefixes_.begin(), prefixes_.end(), is_prefix);
      if (found != prefixes_.end()) name.erase(0, found->size());
    }
    for (const auto& [pattern, replacement] : rules_) name = pattern.replaced(name, replacement);
    return name;
  }

 private:
  std::vector<std::string> prefixes_;
  std::vector<std::pair<Pattern, std::string>> rules_;
};

}  // namespace

WeightSource::WeightSource(const std::string& given, const LoadWeightsOptions& options, const std::string& where,
                           WeightConversion convert) {
  const std::string path = with_index(given);
  label_ = fmt::format("[load_weights \"{}\"]", path);
  const Renaming renamed(options, where);
  { const OpenFile readable(path, label_); }
  const FileKind kind =
      check_kind(path, {FileKind::safetensors, FileKind::shard_index, FileKind::json, FileKind::torch}, label_,
                 "a safetensors file (.safetensors, .mezzo or a checkpoint), a model.safetensors.index.json, a PyTorch "
                 "file (.pt, .bin), or a file of Keras (.weights.h5, .keras, .h5)");
  WeightTable contents;
  if (kind == FileKind::torch) {
    contents = open_torch(path);
  } else if (kind == FileKind::shard_index && path.ends_with(".bin.index.json")) {
    contents = open_torch_shards(path);
  } else {
    contents = open_safetensors(path);
  }
  if (convert != nullptr) contents = convert(std::move(contents));
  read_ = std::move(contents.read);
  check_ = std::move(contents.check);
  for (const TensorEntry& entry : contents.entries) {
    if (begins_with(entry.name, prefix_)) add(entry, renamed(entry.name.substr(prefix_.size())));
  }
}

void WeightSource::add(const TensorEntry& entry, const std::string& name) {
  const auto [place, added] = places_.try_emplace(name, entries_.size(), entry.name);
  if (!added) {
    fail<FileError>(label_, "names must differ after rename and strip_prefixes; \"{}\" and \"{}\" are both \"{}\"",
                    place->second.second, entry.name, name);
  }
  entries_.push_back(entry);
  entries_.back().name = name;
}

WeightTable WeightSource::open_safetensors(const std::string& path) {
  label_ = fmt::format("[safetensors \"{}\"]", path);
  const SafetensorsFile file(RecognizedFile{path});
  metadata_ = file.metadata();
  const auto format = metadata_.find(format_name);
  const std::string name = format == metadata_.end() ? "" : format->second;
  check_weight_version(file, name, label_);
  if (name == file_formats::checkpoint || name == file_formats::model || name == file_formats::loop) {
    prefix_ = weight_prefix;
  }
  return {file.entries(), [file](const std::string& tensor) { return file.read(tensor); },
          [file](const std::string& tensor) { file.check(tensor); }};
}

WeightTable WeightSource::open_torch(const std::string& path) {
  label_ = fmt::format("[torch \"{}\"]", path);
  const TorchFile file(RecognizedFile{path});
  for (const char* prefix : state_dict_prefixes) {
    const bool has = std::any_of(file.entries().begin(), file.entries().end(),
                                 [&](const TensorEntry& entry) { return begins_with(entry.name, prefix); });
    if (has && prefix_.empty()) prefix_ = prefix;
  }
  return {file.entries(), [file](const std::string& tensor) { return file.read(tensor); },
          [file](const std::string& tensor) { file.check(tensor); }};
}

WeightTable WeightSource::open_torch_shards(const std::string& path) {
  label_ = fmt::format("[torch \"{}\"]", path);
  WeightTable all;
  std::map<std::string, TorchFile> files;  // by tensor
  for (const auto& [shard, names] : read_shard_index(path, label_)) {
    const TorchFile file(shard);
    for (const std::string& name : names) {
      const TensorEntry* const entry = file.find(name);
      if (entry == nullptr) {
        fail<FileError>(label_, "tensor \"{}\" must be in \"{}\"; that file lacks it", name, shard);
      }
      all.entries.push_back(*entry);
      files.emplace(name, file);
    }
  }
  all.read = [files](const std::string& tensor) { return files.at(tensor).read(tensor); };
  all.check = [files](const std::string& tensor) { files.at(tensor).check(tensor); };
  return all;
}

const TensorEntry* WeightSource::find(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &entries_[found->second.first];
}

const std::string* WeightSource::fact(const std::string& name) const {
  const auto found = metadata_.find(prefix_ + name);
  return found == metadata_.end() ? nullptr : &found->second;
}

Tensor WeightSource::read(const std::string& name) const { return read_(places_.at(name).second); }

void WeightSource::check(const std::string& name) const {
  if (check_) check_(places_.at(name).second);
}

}  // namespace mezzo::detail
