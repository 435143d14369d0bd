#include <mezzo/data/text/text_dataset.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/folder_files.hpp>
#include <mezzo/io/file.hpp>

namespace mezzo {
namespace {

std::vector<std::string> joined(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::string> values;
  for (const std::vector<std::string>& row : rows) {
    if (row.size() != rows.front().size()) {
      fail<ShapeError>("[Strings]", "rows must have the same length; got {} and {}", rows.front().size(), row.size());
    }
    values.insert(values.end(), row.begin(), row.end());
  }
  return values;
}

detail::FolderOptions text_files(const TextDatasetOptions& options) {
  if (options.max_length && *options.max_length < 0) {
    fail<ValueError>("[text_dataset_from_directory]", "max_length must not be negative; got {}", *options.max_length);
  }
  detail::FolderOptions files;
  files.where = "[text_dataset_from_directory]";
  files.endings = {".txt"};
  files.labels = options.labels;
  files.label_mode = options.label_mode;
  files.class_names = options.class_names;
  files.shuffle = options.shuffle;
  files.seed = options.seed;
  files.validation_split = options.validation_split;
  files.subset = options.subset;
  files.follow_links = options.follow_links;
  return files;
}

TextDataset make_text_dataset(detail::FolderFiles files, const TextDatasetOptions& options) {
  const auto shared = std::make_shared<const detail::FolderFiles>(std::move(files));
  const auto read = [shared, most = options.max_length](std::int64_t index) {
    constexpr std::uint64_t largest = std::uint64_t{1} << 30U;
    const detail::Bytes bytes = detail::read_file(shared->paths[static_cast<std::size_t>(index)], largest);
    const std::size_t count = most ? std::min(bytes.size(), static_cast<std::size_t>(*most)) : bytes.size();
    return std::string(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
  };
  std::optional<Field> field;
  std::function<Tensor(std::int64_t)> label;
  if (shared->labelled()) {
    field = shared->label_field();
    label = [shared](std::int64_t index) { return shared->label(static_cast<std::size_t>(index)); };
  }
  return {static_cast<std::int64_t>(shared->paths.size()), read, field, label, shared->class_names, shared->paths};
}

}  // namespace

Strings::Strings(std::vector<std::string> values)
    : shape_{static_cast<std::int64_t>(values.size())}, values_(std::move(values)) {}

detail::StringList::StringList(std::initializer_list<detail::StringList> entries)
    : shape_{static_cast<std::int64_t>(entries.size())} {
  if (entries.size() == 0) return;
  const Shape& first = entries.begin()->shape_;
  shape_.insert(shape_.end(), first.begin(), first.end());
  for (const detail::StringList& entry : entries) {
    if (entry.shape_ != first) {
      fail<ShapeError>("[Strings]", "lists must have one shape; got {} and {}", first, entry.shape_);
    }
    values_.insert(values_.end(), entry.values_.begin(), entry.values_.end());
  }
}

Strings::Strings(std::initializer_list<detail::StringList> entries) {
  detail::StringList list(entries);
  shape_ = std::move(list.shape_);
  values_ = std::move(list.values_);
}

Strings::Strings(const std::vector<std::vector<std::string>>& rows)
    : shape_{static_cast<std::int64_t>(rows.size()), rows.empty() ? 0 : static_cast<std::int64_t>(rows.front().size())},
      values_(joined(rows)) {}

Strings::Strings(Shape shape, std::vector<std::string> values) : shape_(std::move(shape)), values_(std::move(values)) {
  std::int64_t count = 1;
  for (const std::int64_t one : shape_) count *= one;
  if (count != size()) fail<ShapeError>("[Strings]", "shape {} must have {} strings; got {}", shape_, count, size());
}

struct TextDataset::Content {
  std::int64_t size = 0;
  std::function<std::string(std::int64_t)> text;
  std::optional<Field> label;
  std::function<Tensor(std::int64_t)> label_of;
  std::vector<std::string> class_names, file_paths;
};

TextDataset::TextDataset(Strings texts, std::optional<Tensor> labels, std::vector<std::string> class_names) {
  if (texts.shape().size() != 1) {
    fail<ShapeError>("[TextDataset]", "texts must have shape (count,); got shape {}", texts.shape());
  }
  if (labels && (labels->shape().empty() || labels->shape()[0] != texts.size())) {
    fail<ShapeError>("[TextDataset]", "labels must have {} rows, one for each text; got shape {}", texts.size(),
                     labels->shape());
  }
  Content content;
  content.size = texts.size();
  content.class_names = std::move(class_names);
  if (labels) {
    const Shape row(labels->shape().begin() + 1, labels->shape().end());
    content.label = Field{"label", row, labels->dtype(), Role::target};
    content.label_of = [all = *labels, row](std::int64_t index) { return all.slice(index, index + 1).reshape(row); };
  }
  content.text = [all = std::move(texts)](std::int64_t index) { return all[index]; };
  content_ = std::make_shared<const Content>(std::move(content));
}

TextDataset::TextDataset(std::int64_t size, std::function<std::string(std::int64_t)> text, std::optional<Field> label,
                         std::function<Tensor(std::int64_t)> label_of, std::vector<std::string> class_names,
                         std::vector<std::string> file_paths) {
  if (size < 0) fail<ValueError>("[TextDataset]", "size must be 0 or more; got {}", size);
  if (!text) fail<ValueError>("[TextDataset]", "text must be given; got none");
  if (label.has_value() != static_cast<bool>(label_of)) {
    fail<ValueError>("[TextDataset]", "label and label_of must be given together");
  }
  content_ = std::make_shared<const Content>(Content{size, std::move(text), std::move(label), std::move(label_of),
                                                     std::move(class_names), std::move(file_paths)});
}

std::int64_t TextDataset::size() const { return content_ ? content_->size : 0; }

std::string TextDataset::text(std::int64_t index) const {
  if (index < 0 || index >= size()) {
    fail<ValueError>("[TextDataset]", "indices must lie in [0, {}); got {}", size(), index);
  }
  return content_->text(index);
}

Strings TextDataset::texts() const {
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < size(); ++i) all.push_back(text(i));
  return all;
}

Tensor TextDataset::labels() const {
  if (!content_ || !content_->label) fail<ValueError>("[TextDataset]", "there must be labels; got none");
  const auto content = content_;
  FunctionDatasetOptions made;
  made.size = content->size;
  made.fields = {*content->label};
  made.function = [content](std::int64_t index) { return std::vector<Tensor>{content->label_of(index)}; };
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < size(); ++i) indices.push_back(i);
  return Dataset::from_function(std::move(made)).gather(indices)[content->label->name];
}

const std::vector<std::string>& TextDataset::class_names() const {
  static const std::vector<std::string> none;
  return content_ ? content_->class_names : none;
}

const std::vector<std::string>& TextDataset::file_paths() const {
  static const std::vector<std::string> none;
  return content_ ? content_->file_paths : none;
}

Dataset TextDataset::map(std::function<Tensor(const Strings&)> function) const {
  if (!function) fail<ValueError>("[TextDataset.map]", "function must be given; got none");
  if (size() == 0) fail<ValueError>("[TextDataset.map]", "the data set must have texts; got none");
  const auto content = content_;
  const Tensor first = function(content->text(0));
  FunctionDatasetOptions made;
  made.size = content->size;
  made.fields = {{"text", first.shape(), first.dtype(), Role::input}};
  if (content->label) made.fields.push_back(*content->label);
  made.function = [content, function = std::move(function)](std::int64_t index) {
    std::vector<Tensor> sample{function(content->text(index))};
    if (content->label) sample.push_back(content->label_of(index));
    return sample;
  };
  return Dataset::from_function(std::move(made));
}

TextDataset text_dataset_from_directory(const std::string& directory, const TextDatasetOptions& options) {
  return make_text_dataset(detail::folder_files(directory, text_files(options)), options);
}

std::pair<TextDataset, TextDataset> text_datasets_from_directory(const std::string& directory,
                                                                 const TextDatasetOptions& options) {
  auto [training, validation] = detail::both_folder_files(directory, text_files(options));
  return {make_text_dataset(std::move(training), options), make_text_dataset(std::move(validation), options)};
}

}  // namespace mezzo
