#include <mezzo/layers/preprocessing/integer_lookup.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/unmoved.hpp>
#include <mezzo/data/encode_categories.hpp>
#include <mezzo/data/text/hashes.hpp>
#include <mezzo/data/text/index_lookup.hpp>
#include <mezzo/layers/preprocessing/preprocessing.hpp>

namespace mezzo {

struct detail::IntegerTable {
  IndexLookup<std::int64_t> lookup;
};

IntegerLookup::IntegerLookup(IntegerLookupOptions options)
    : Layer("IntegerLookup", options), options_(std::move(options)) {
  if (options_.oov_method != "floormod" && options_.oov_method != "farmhash") {
    fail<NameError>(label(), "unknown oov_method \"{}\"; valid names: farmhash, floormod", options_.oov_method);
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
  table_ = std::make_shared<detail::IntegerTable>(
      detail::IntegerTable{detail::IndexLookup<std::int64_t>(std::move(settings))});
  if (options_.vocabulary.empty()) {
    if (!options_.idf_weights.empty()) fail<ValueError>(label(), "vocabulary must be given with idf_weights");
    return;
  }
  table_->lookup.set_vocabulary(options_.vocabulary, options_.idf_weights);
  adaptable_ = false;
}

void IntegerLookup::save_vocabulary() {
  IntegerLookupOptions saved = options_;
  saved.vocabulary = table_->lookup.vocabulary(true);
  saved.idf_weights = table_->lookup.idf_weights();
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
  detail::unmoved<IntegerLookup>(table_)->lookup.adapt(counts);
  save_vocabulary();
}

void IntegerLookup::set_vocabulary(const std::vector<std::int64_t>& vocabulary,
                                   const std::vector<double>& idf_weights) {
  detail::unmoved<IntegerLookup>(table_)->lookup.set_vocabulary(vocabulary, idf_weights);
  save_vocabulary();
}

std::vector<std::int64_t> IntegerLookup::get_vocabulary(bool include_special_tokens) const {
  return detail::unmoved<IntegerLookup>(table_)->lookup.vocabulary(include_special_tokens);
}

std::int64_t IntegerLookup::vocabulary_size() const { return detail::unmoved<IntegerLookup>(table_)->lookup.size(); }

Value IntegerLookup::call(const Value& x) {
  table_->lookup.require_vocabulary();
  const std::string mode = options_.output_mode == "tf_idf" ? "count" : options_.output_mode;
  const DType dtype = options_.output_mode == "tf_idf" ? DType::float32 : DType::int64;
  const std::int64_t depth = table_->lookup.depth();
  return detail::on_host(
      {x}, [mode, depth](const Shape& shape) { return detail::encoded_shape(shape, mode, depth); }, dtype,
      [table = table_, options = options_, where = label()](const std::vector<Tensor>& given) {
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
          numbers[i] =
              options.invert ? table->lookup.token_of(numbers[i]) : table->lookup.index_of(numbers[i], unknown);
        }
        return options.invert ? out : table->lookup.encoded(out);
      });
}

}  // namespace mezzo
