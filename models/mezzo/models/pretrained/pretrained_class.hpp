#pragma once
#include <functional>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include <mezzo/models/pretrained/config_fields.hpp>
#include <mezzo/nn/weight_source.hpp>

namespace mezzo::detail {

/// Names of tensors in a folder of transformers, compared with those of Layer::save_weights().
struct FolderNames {
  /// Replacements from names in the folder to names that Layer::load_weights() knows, as in LoadWeightsOptions.
  std::vector<std::pair<std::string, std::string>> read{};
  /// Replacements from names of Layer::save_weights() to names that a strict load of transformers wants.
  std::vector<std::pair<std::string, std::string>> written{};
  /// Regular expression that is found in the names of heads, on both sides after `read`: a folder may lack them or have
  /// those of other tasks.
  std::string heads{};
  /// Tensors of a folder as those of Layer::load_weights(), before `read`; null: they are the same.
  WeightConversion convert = nullptr;
  /// Tensors of Layer::save_weights() as those of a folder, after `written`; null: they are the same.
  NamedTensors (*convert_back)(NamedTensors) = nullptr;
};

/// A class of models that has a counterpart in transformers or timm.
struct PretrainedClass {
  std::vector<std::string> architectures{};  ///< classes of transformers; the first one is written; {}: those of timm
  /// Values of model_type; the first one is written. For timm: values of `architecture`.
  std::vector<std::string> model_types{};
  const std::type_info* type = nullptr;  ///< class of mezzo
  std::string name{};                    ///< its name, for errors
  FolderNames names{};
  bool has_word_pieces = false;  ///< a tokenizer may be a vocab.txt of BERT
  /// Reads the config and makes the model, without weights.
  std::function<Any<Model>(ConfigFields&, const FromPretrainedOptions&)> make{};
  /// Shape of an input that builds a model of this class.
  std::function<Shape(const Model&)> input{};
  /// Writes the options of a model of this class.
  std::function<void(const Model&, ConfigFields&)> write{};
};

/// Parts of a PretrainedClass as a family writes them.
template <class Options>
struct PretrainedFamily {
  std::vector<std::string> architectures{};
  std::vector<std::string> model_types{};
  Options defaults{};                                                  ///< of transformers, for missing keys
  void (*describe)(ConfigFields& fields, Options& options) = nullptr;  ///< names every key and its option
  Shape (*input)(const Options& options) = nullptr;                    ///< null: (1, 1), ids of tokens
  FolderNames names{};
  bool has_word_pieces = false;  ///< a tokenizer may be a vocab.txt of BERT
};

/// Entry of a class M without its functions.
template <class M, class Options>
PretrainedClass entry_of(const char* name, PretrainedFamily<Options>& family) {
  return {.architectures = std::move(family.architectures),
          .model_types = std::move(family.model_types),
          .type = &typeid(M),
          .name = name,
          .names = std::move(family.names),
          .has_word_pieces = family.has_word_pieces};
}

/// Entry of a class M with a constructor that takes Options, and a member function options().
template <class M, class Options>
PretrainedClass pretrained_class(const char* name, PretrainedFamily<Options> family) {
  auto out = entry_of<M>(name, family);
  out.make = [defaults = std::move(family.defaults), describe = family.describe](
                 ConfigFields& fields, const FromPretrainedOptions& given) -> Any<Model> {
    Options options = defaults;
    describe(fields, options);
    options.name = given.name;
    options.dtype = given.dtype;
    return M(std::move(options));
  };
  out.input = [input = family.input](const Model& model) -> Shape {
    return input == nullptr ? Shape{1, 1} : input(static_cast<const M&>(model).options());
  };
  out.write = [describe = family.describe](const Model& model, ConfigFields& fields) {
    Options options = static_cast<const M&>(model).options();
    describe(fields, options);
  };
  return out;
}

/// All classes: of each family the class without head first.
const std::vector<PretrainedClass>& pretrained_classes();

/// @name Classes of a family
/// @{
std::vector<PretrainedClass> bert_classes();
std::vector<PretrainedClass> roberta_classes();
std::vector<PretrainedClass> distilbert_classes();
std::vector<PretrainedClass> gpt_classes();
std::vector<PretrainedClass> llama_classes();
std::vector<PretrainedClass> vit_classes();
std::vector<PretrainedClass> resnet_classes();
std::vector<PretrainedClass> mobilenet_v2_classes();
/// @}

/// Class of a folder: `type`, or the one that its config names if `type` is null. Throws a FileError that starts with
/// `where` if its model_type is another or unknown one, a ValueError for a type without counterpart.
const PretrainedClass& class_of_folder(const Json& config, const std::string& where, const std::type_info* type);

/// Class of a model: the one of the folder that `config` is from, else the first one. Throws a ValueError that starts
/// with `where` if it has no counterpart in transformers.
const PretrainedClass& class_of_model(const std::type_info& type, const Json& config, const std::string& where);

}  // namespace mezzo::detail
