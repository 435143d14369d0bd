#include <mezzo/models/pretrained/rope_keys.hpp>

#include <mezzo/models/llama.hpp>
#include <mezzo/models/pretrained/config_fields.hpp>

namespace mezzo::detail {
namespace {

const std::vector<std::string> rope_types{"default", "linear", "llama3"};

/// A key without a default: that of transformers is an error too.
void required(ConfigFields& fields, const char* key) {
  if (!fields.writes() && fields.find(key) == nullptr) fields.refuse(key, "given for this rope_type");
}

void describe_scaling(ConfigFields& fields, RopeScaling& scaling) {
  // The older name of the key.
  const char* const type = !fields.writes() && fields.find("type") != nullptr ? "type" : "rope_type";
  fields.choice(type, scaling.rope_type, rope_types);
  if (type != std::string("rope_type") && fields.find("rope_type") != nullptr) {
    std::string again;
    fields.text("rope_type", again);
    if (again != scaling.rope_type) fields.refuse("rope_type", "that of type");
  }
  fields.fixed("partial_rotary_factor", 1.0);
  if (scaling.rope_type == "default") return;
  required(fields, "factor");
  fields.number("factor", scaling.factor);
  if (scaling.rope_type != "llama3") return;
  for (const char* key : {"low_freq_factor", "high_freq_factor", "original_max_position_embeddings"}) {
    required(fields, key);
  }
  fields.number("low_freq_factor", scaling.low_freq_factor);
  fields.number("high_freq_factor", scaling.high_freq_factor);
  fields.size("original_max_position_embeddings", scaling.original_max_position_embeddings);
}

}  // namespace

void describe_rope(ConfigFields& fields, LlamaOptions& options) {
  fields.fixed("partial_rotary_factor", 1.0);
  fields.fixed("rope_interleaved", false);
  if (fields.writes()) {
    fields.drop("rope_parameters");
    fields.number("rope_theta", options.rope_theta);
    if (options.rope_scaling.rope_type == "default") return fields.write("rope_scaling", Json());
    return fields.object("rope_scaling", [&](ConfigFields& inner) { describe_scaling(inner, options.rope_scaling); });
  }
  fields.number("rope_theta", options.rope_theta);
  fields.object("rope_scaling", [&](ConfigFields& inner) { describe_scaling(inner, options.rope_scaling); });
  fields.object("rope_parameters", [&](ConfigFields& inner) {
    const double outer = options.rope_theta;
    const bool has_outer = fields.json().contains("rope_theta");
    inner.number("rope_theta", options.rope_theta);
    if (has_outer && outer != options.rope_theta) inner.refuse("rope_theta", fmt::format("{}, as outside", outer));
    describe_scaling(inner, options.rope_scaling);
  });
}

}  // namespace mezzo::detail
