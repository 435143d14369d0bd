#include <algorithm>

#include <mezzo/core/demangled.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/models/pretrained/pretrained_class.hpp>

namespace mezzo::detail {
namespace {

template <class Condition>
const PretrainedClass* first_class(Condition condition) {
  const auto& all = pretrained_classes();
  const auto found = std::find_if(all.begin(), all.end(), condition);
  return found == all.end() ? nullptr : &*found;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_model_type(const PretrainedClass& one, const std::string& model_type) {
  return contains(one.model_types, model_type);
}

std::vector<std::string> names_of_classes() {
  std::vector<std::string> out;
  for (const PretrainedClass& one : pretrained_classes()) {
    if (!contains(out, one.name)) out.push_back(one.name);
  }
  return out;
}

std::vector<std::string> known_model_types() {
  std::vector<std::string> out;
  for (const PretrainedClass& one : pretrained_classes()) {
    for (const std::string& name : one.model_types) {
      if (!contains(out, name)) out.push_back(name);
    }
  }
  return out;
}

/// The first text of `architectures`; "" if there is none.
std::string architecture_of(const Json& config) {
  const auto found = config.find("architectures");
  const bool given = found != config.end() && found->is_array() && !found->empty() && found->front().is_string();
  return given ? found->front().get<std::string>() : "";
}

/// `model_type`, or that of the architecture in folders of old versions, or timm's `architecture`; "" if all are
/// missing.
std::string model_type_of(const Json& config, const std::string& where) {
  const auto found = config.find("model_type");
  if (found != config.end()) {
    if (!found->is_string()) fail<FileError>(where, "model_type must be a text; got {}", excerpt(*found));
    return found->get<std::string>();
  }
  const auto of_timm = config.find("architecture");
  if (of_timm != config.end() && of_timm->is_string()) return of_timm->get<std::string>();
  const std::string architecture = architecture_of(config);
  const auto* one = first_class([&](const PretrainedClass& c) { return contains(c.architectures, architecture); });
  return one == nullptr ? "" : one->model_types.front();
}

/// First class of a type.
const PretrainedClass& require_class(const std::type_info& type, const std::string& where) {
  const auto* found = first_class([&](const PretrainedClass& c) { return *c.type == type; });
  if (found != nullptr) return *found;
  fail<ValueError>(where, "the model must be of a class that transformers has too: {}; got {}",
                   fmt::join(names_of_classes(), ", "), demangled(type));
}

}  // namespace

const std::vector<PretrainedClass>& pretrained_classes() {
  static const std::vector<PretrainedClass> all = [] {
    std::vector<PretrainedClass> out;
    for (const auto classes : {bert_classes, roberta_classes, distilbert_classes, gpt_classes, llama_classes,
                               vit_classes, resnet_classes, mobilenet_v2_classes}) {
      for (PretrainedClass& one : classes()) out.push_back(std::move(one));
    }
    return out;
  }();
  return all;
}

const PretrainedClass& class_of_folder(const Json& config, const std::string& where, const std::type_info* type) {
  if (type != nullptr) require_class(*type, "[from_pretrained]");
  const std::string model_type = model_type_of(config, where);
  if (type != nullptr) {
    const PretrainedClass& wanted = class_of_model(*type, config, where);
    if (has_model_type(wanted, model_type)) return wanted;
    const auto* other = first_class([&](const PretrainedClass& c) { return has_model_type(c, model_type); });
    fail<FileError>(where, "model_type must be {} for {}; got {}{}", fmt::join(wanted.model_types, " or "), wanted.name,
                    model_type.empty() ? "none" : '"' + model_type + '"',
                    other == nullptr ? "" : fmt::format(", which {} reads", other->name));
  }
  const std::string architecture = architecture_of(config);
  const auto* exact = first_class([&](const PretrainedClass& c) {
    return has_model_type(c, model_type) && contains(c.architectures, architecture);
  });
  if (exact != nullptr) return *exact;
  const auto* first = first_class([&](const PretrainedClass& c) { return has_model_type(c, model_type); });
  if (first != nullptr) return *first;
  fail<FileError>(where, "model_type must be one of {}; got {}", fmt::join(known_model_types(), ", "),
                  model_type.empty() ? "none" : '"' + model_type + '"');
}

const PretrainedClass& class_of_model(const std::type_info& type, const Json& config, const std::string& where) {
  const PretrainedClass& first = require_class(type, where);
  const std::string model_type = model_type_of(config, where);
  const auto* exact =
      first_class([&](const PretrainedClass& c) { return *c.type == type && has_model_type(c, model_type); });
  return exact == nullptr ? first : *exact;
}

}  // namespace mezzo::detail
