#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <mezzo/models/pretrained/from_pretrained.hpp>
#include <mezzo/nn/config_json.hpp>

namespace mezzo::detail {

/// Keys of a config.json of Hugging Face, which are read into options or written from them. Each family of models has
/// one function that names every key and its option, for both directions. The options have the defaults of
/// transformers, which a missing key keeps. Errors are FileErrors that name file, key, expected and given value.
class ConfigFields {
 public:
  /// Reads. `most_layers`: largest number of layers, so that no more objects are made than the folder has tensors.
  ConfigFields(Json json, std::string where, const FromPretrainedOptions& options, std::int64_t most_layers);

  /// Writes. `labels`: names of the classes of a classifier, or empty.
  explicit ConfigFields(std::vector<std::string> labels, std::string where);

  /// True if options are written.
  bool writes() const { return writes_; }

  /// Start of error texts: `[from_pretrained "bert/config.json"]`.
  const std::string& where() const { return where_; }

  /// @name Keys with an option
  /// @{
  void size(const char* key, std::int64_t& value);          ///< from 1 to 2^31
  void size_or_null(const char* key, std::int64_t& value);  ///< the same; null is 0 here
  void layers(const char* key, std::int64_t& value);        ///< number of layers
  void token(const char* key, std::int64_t& value);         ///< id of a token, at least 0
  void number(const char* key, double& value);              ///< finite
  void number_or_null(const char* key, std::optional<double>& value);
  void flag(const char* key, bool& value);
  void text(const char* key, std::string& value);
  void choice(const char* key, std::string& value, const std::vector<std::string>& valid);
  void activation(const char* key, std::string& value);  ///< a name of transformers' that mezzo computes
  void labels(std::int64_t& num_labels);                 ///< id2label or num_labels, and the option num_labels
  /// @}

  /// A key whose only value here is `value`, the default of transformers too.
  void fixed(const char* key, const Json& value);

  /// The same with several values that mean the default, such as null and false.
  void one_of(const char* key, const std::vector<Json>& values);

  /// Keys without effect on outputs.
  void ignore(std::initializer_list<const char*> keys);

  /// Object as value, with all of its keys named by `describe`; not called if it is missing or null.
  void object(const char* key, const std::function<void(ConfigFields&)>& describe);

  /// Value of a key, which counts as read; null if it is missing or null. Only for reading.
  const Json* find(const char* key);

  /// Writes a key.
  void write(const char* key, Json value);

  /// Leaves out a key that another one has replaced. Only for writing.
  void drop(const char* key) { dropped_.insert(key); }

  /// Option add_pooling_layer, which is no key of config.json.
  void pooling_layer(bool& value);

  /// Throws `<key> must be <expected>; got <value>`.
  [[noreturn]] void refuse(const std::string& key, const std::string& expected) const;

  /// Throws a ValueError for an option or a replaced key without effect on a class of that name. Call it last.
  void check_options(const std::string& kind) const;

  /// Keys that were neither read nor ignored.
  std::vector<std::string> unknown_keys() const;

  /// Written keys in the place of those in another config.
  Json merged_into(Json config) const;

  /// `key = value` for each size that the config lacks and that has transformers' default.
  const std::vector<std::string>& default_sizes() const { return default_sizes_; }

  /// Names of the classes that were read or are written.
  const std::vector<std::string>& label_names() const { return labels_; }

  /// The config.
  const Json& json() const { return json_; }

 private:
  void integer(const char* key, std::int64_t least, std::int64_t& value);
  std::string path(const std::string& key) const { return path_ + key; }
  void refuse_unknown_keys() const;
  void read_labels(std::int64_t& num_labels);

  Json json_;
  std::string where_, path_;  // path_ of an object: "rope_scaling."
  bool writes_ = false;
  FromPretrainedOptions options_;
  std::int64_t most_layers_ = 0;
  std::vector<std::string> labels_, default_sizes_;
  std::set<std::string> read_, ignored_, dropped_;
  bool used_labels_ = false, used_pooling_ = false;
};

}  // namespace mezzo::detail
