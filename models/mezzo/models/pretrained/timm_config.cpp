#include <mezzo/models/pretrained/timm_config.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

constexpr const char *timm_settings = "pretrained_cfg", *timm_image_size = "input_size", *timm_classes = "num_classes";

/// Value from 1 to 2^16 of a key.
std::int64_t timm_size(const ConfigFields& fields, const char* key, const Json& value) {
  constexpr std::int64_t most = 1 << 16U;
  if (!value.is_number_integer() || value < 1 || value > most) {
    fields.refuse(key, fmt::format("with sizes that are integers from 1 to {}", most));
  }
  return value.get<std::int64_t>();
}

/// Reads classes and channels from pretrained_cfg or, in old files, from the same keys beside `architecture`.
void read_settings(ConfigFields& fields, TimmConfig& config) {
  const Json* const settings = fields.find(timm_settings);
  if (settings != nullptr && !settings->is_object()) fields.refuse(timm_settings, "an object");
  const auto value_of = [&](const char* key) -> const Json* {
    if (settings == nullptr) return fields.find(key);
    const auto found = settings->find(key);
    return found == settings->end() || found->is_null() ? nullptr : &*found;
  };
  const char* const place = settings == nullptr ? timm_image_size : timm_settings;
  if (const Json* const size = value_of(timm_image_size)) {
    if (!size->is_array() || size->size() != 3) fields.refuse(place, "with an input_size of 3 integers");
    config.channels = timm_size(fields, place, size->front());
  }
  if (fields.find(timm_classes) != nullptr) return fields.size(timm_classes, config.classes);
  if (const Json* const classes = value_of(timm_classes)) config.classes = timm_size(fields, place, *classes);
}

/// Reads the other arguments of timm's function of the model.
void read_arguments(ConfigFields& fields, TimmConfig& config) {
  const char* const key = "model_args";
  const Json* const arguments = fields.find(key);
  if (arguments == nullptr) return;
  if (!arguments->is_object()) fields.refuse(key, "an object");
  for (const auto& [name, value] : arguments->items()) {
    if (name != "in_chans") fields.refuse(key, "an object with the key in_chans alone");
    config.channels = timm_size(fields, key, value);
  }
}

}  // namespace

void describe_timm(ConfigFields& fields, TimmConfig& config) {
  fields.choice("architecture", config.architecture, config.known);
  fields.fixed("global_pool", "avg");
  fields.ignore({"label_names",
                 "label_descriptions",
                 "mean",
                 "std",
                 "crop_pct",
                 "crop_mode",
                 "interpolation",
                 "first_conv",
                 "classifier",
                 "pool_size",
                 "fixed_input_size",
                 "test_input_size",
                 "test_crop_pct",
                 "url",
                 "file",
                 "hf_hub_id",
                 "source",
                 "tag",
                 "license",
                 "origin_url",
                 "paper_name",
                 "paper_ids",
                 "notes",
                 "description",
                 "custom_load"});
  if (!fields.writes()) {
    read_settings(fields, config);
    read_arguments(fields, config);
    return fields.labels(config.classes);  // the option num_labels
  }
  fields.write(timm_classes, config.classes);
  fields.write("global_pool", "avg");
  fields.write(timm_settings, {{timm_image_size, {config.channels, 224, 224}},
                               {timm_classes, config.classes},
                               {"first_conv", config.first_conv},
                               {"classifier", config.classifier}});
}

Json with_timm_settings(Json config, const Json& kept) {
  const auto before = kept.find(timm_settings);
  if (before == kept.end() || !before->is_object()) return config;
  Json settings = *before;
  const Json size = config[timm_settings][timm_image_size];
  const auto kept_size = settings.find(timm_image_size);
  const bool fits = kept_size != settings.end() && kept_size->is_array() && kept_size->size() == size.size() &&
                    kept_size->front() == size.front();
  if (!fits) settings[timm_image_size] = size;
  config[timm_settings] = std::move(settings);
  return config;
}

void describe_timm_features(ConfigFields& fields, std::int64_t features) {
  if (fields.writes()) return fields.write("num_features", features);
  const Json* const given = fields.find("num_features");
  if (given != nullptr && *given != features) fields.refuse("num_features", fmt::format("{}", features));
}

}  // namespace mezzo::detail
