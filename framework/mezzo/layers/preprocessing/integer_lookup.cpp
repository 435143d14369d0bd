#include <mezzo/layers/preprocessing/integer_lookup.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/encode_categories.hpp>
#include <mezzo/data/text/hashes.hpp>
#include <mezzo/data/text/index_lookup.hpp>
#include <mezzo/layers/preprocessing/preprocessing.hpp>

namespace mezzo {

using IntegerTable = detail::IndexLookup<std::int64_t>;

IntegerLookup::IntegerLookup(IntegerLookupOptions options)
    : Layer("IntegerLookup", options), options_(std::move(options)) {
  if (options_.oov_method != "floormod" && options_.oov_method != "farmhash") {
    fail_unknown(label(), "oov_method", options_.oov_method, {"farmhash", "floormod"});
  }
  detail::check_salt(options_.salt, label());
  if (!options_.salt.empty() && options_.oov_method != "farmhash") {
    fail<ValueError>(label(), "oov_method must be \"farmhash\" with salt; got \"{}\"", options_.oov_method);
  }
  detail::LookupSettings<std::int64_t> settings;
  settings.where = label();
  settings.max_tokens = options_.max_tokens;
  settings.num_oov_indices = options_.num_oov_indices;
  settings.mask_token = options_.mask_token;
  settings.oov_token = options_.oov_token;
  settings.invert = options_.invert;
  settings.output_mode = options_.output_mode;
  settings.pad_to_max_tokens = options_.pad_to_max_tokens;
  IntegerTable table(std::move(settings));
  if (options_.vocabulary.empty()) {
    if (!options_.idf_weights.empty()) fail<ValueError>(label(), "vocabulary must be given with idf_weights");
  } else {
    table.set_vocabulary(options_.vocabulary, options_.idf_weights);
    adaptable_ = false;
  }
  table_.set(std::make_shared<const IntegerTable>(std::move(table)));
}

const IntegerTable& IntegerLookup::table() const { return *table_.of(typeid(IntegerLookup)); }

void IntegerLookup::set_table(Vocabulary changed, const char* function) {
  if (!table().is_int() && table_.in_use(*this)) {
    detail::check_columns_kept(fmt::format("{} {}:", label(), function), table().depth(), changed->depth());
  }
  table_.set(std::move(changed));
  IntegerLookupOptions saved = options_;
  saved.vocabulary = table().vocabulary(true);
  saved.idf_weights = table().idf_weights();
  if (!saved.idf_weights.empty()) saved.idf_weights.resize(saved.vocabulary.size());
  state()->options = saved;
}

void IntegerLookup::adapt(const Tensor& data) {
  if (data.shape().empty() || data.size() == 0) {
    fail<ValueError>(label(), "adapt: the array must have integers; got shape {}", data.shape());
  }
  adapt(Dataset::from_tensors({{"x", data}}), "x");
}

void IntegerLookup::adapt(const Dataset& data, const std::string& field) {
  if (!adaptable_) fail<ValueError>(label(), "adapt: the vocabulary was given and can't be adapted");
  detail::TokenCounts<std::int64_t> counts;
  detail::for_each_batch(data, field, label(), [&](const Tensor& batch) {
    if (is_floating(batch.dtype())) fail<DTypeError>(label(), "adapt: data must be integers; got {}", batch.dtype());
    const Tensor wide = batch.cast(DType::int64);
    const std::int64_t row = wide.size() / wide.shape()[0];
    for (std::int64_t i = 0; i < wide.shape()[0]; ++i) {
      counts.add({wide.data<std::int64_t>() + i * row, wide.data<std::int64_t>() + (i + 1) * row});
    }
  });
  auto adapted = std::make_shared<IntegerTable>(table().settings());
  adapted->adapt(counts);
  set_table(std::move(adapted), "adapt");
}

void IntegerLookup::set_vocabulary(const std::vector<std::int64_t>& vocabulary,
                                   const std::vector<double>& idf_weights) {
  auto changed = std::make_shared<IntegerTable>(table().settings());
  changed->set_vocabulary(vocabulary, idf_weights);
  set_table(std::move(changed), "set_vocabulary");
}

std::vector<std::int64_t> IntegerLookup::get_vocabulary(bool include_special_tokens) const {
  return table().vocabulary(include_special_tokens);
}

std::int64_t IntegerLookup::vocabulary_size() const { return table().size(); }

Value IntegerLookup::call(const Value& x) {
  table().require_vocabulary();
  table_.note_call();
  const std::string mode = options_.output_mode == "tf_idf" ? "count" : options_.output_mode;
  const DType dtype = options_.output_mode == "tf_idf" ? DType::float32 : DType::int64;
  const std::int64_t depth = table().depth();
  return detail::on_host(
      {x}, [mode, depth](const Shape& shape) { return detail::encoded_shape(shape, mode, depth); }, dtype,
      [found = table_.pointer(), options = options_, where = label()](const std::vector<Tensor>& given) {
        const IntegerTable& table = **found;
        // Not earlier: Sequential builds its layers with a symbol of float32.
        if (is_floating(given[0].dtype())) fail<DTypeError>(where, "input must be integers; got {}", given[0].dtype());
        Tensor out = given[0].cast(DType::int64);
        auto* const numbers = out.mutable_data<std::int64_t>();
        const std::int64_t places = options.num_oov_indices;
        const auto unknown = [&](std::int64_t token) {
          if (options.oov_method == "floormod") return detail::floor_mod(token, places);
          const std::uint64_t hash = detail::salted_hash(std::to_string(token), options.salt);
          return static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(places));
        };
        for (std::int64_t i = 0; i < out.size(); ++i) {
          numbers[i] = options.invert ? table.token_of(numbers[i]) : table.index_of(numbers[i], unknown);
        }
        return options.invert ? out : table.encoded(out);
      });
}

}  // namespace mezzo
