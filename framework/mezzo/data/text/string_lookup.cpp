#include <mezzo/data/text/string_lookup.hpp>

#include <mezzo/core/unmoved.hpp>
#include <mezzo/data/text/hashes.hpp>
#include <mezzo/data/text/index_lookup.hpp>

namespace mezzo {

using StringTable = detail::IndexLookup<std::string>;

StringLookup::StringLookup(StringLookupOptions options) : StringLookup(std::move(options), "[StringLookup]") {}

StringLookup::StringLookup(StringLookupOptions options, std::string where)
    : options_(std::move(options)), where_(std::move(where)) {
  detail::LookupSettings<std::string> settings;
  settings.where = where_;
  settings.max_tokens = options_.max_tokens;
  settings.num_oov_indices = options_.num_oov_indices;
  settings.mask_token = options_.mask_token;
  settings.oov_token = options_.oov_token;
  settings.invert = options_.invert;
  settings.output_mode = options_.output_mode;
  settings.pad_to_max_tokens = options_.pad_to_max_tokens;
  table_ = std::make_shared<const StringTable>(std::move(settings));
  detail::check_salt(options_.salt, where_);
  if (options_.vocabulary.empty()) {
    if (!options_.idf_weights.empty()) {
      fail<ValueError>(where_, "vocabulary must be given with idf_weights");
    }
    return;
  }
  set_vocabulary(options_.vocabulary, options_.idf_weights);
  adaptable_ = false;
}

void StringLookup::adapt(const Strings& data) {
  if (!adaptable_) fail<ValueError>(where_, "adapt: the vocabulary was given and can't be adapted");
  const std::size_t row =
      data.shape().size() > 1 ? static_cast<std::size_t>(data.size() / std::max<std::int64_t>(1, data.shape()[0])) : 1;
  detail::TokenCounts<std::string> counts;
  const std::vector<std::string>& all = data.values();
  for (auto at = all.begin(); at != all.end(); at += static_cast<std::ptrdiff_t>(row)) {
    counts.add({at, at + static_cast<std::ptrdiff_t>(row)});
  }
  auto table = std::make_shared<StringTable>(detail::unmoved<StringLookup>(table_)->settings());
  table->adapt(counts);
  table_ = std::move(table);
}

void StringLookup::set_vocabulary(const std::vector<std::string>& vocabulary, const std::vector<double>& idf_weights) {
  auto table = std::make_shared<StringTable>(detail::unmoved<StringLookup>(table_)->settings());
  table->set_vocabulary(vocabulary, idf_weights);
  table_ = std::move(table);
}

std::vector<std::string> StringLookup::get_vocabulary(bool include_special_tokens) const {
  return detail::unmoved<StringLookup>(table_)->vocabulary(include_special_tokens);
}

std::int64_t StringLookup::vocabulary_size() const { return detail::unmoved<StringLookup>(table_)->size(); }

Tensor StringLookup::operator()(const Strings& strings) const {
  if (options_.invert) fail<ValueError>(where_, "invert maps indices to strings; got strings");
  detail::unmoved<StringLookup>(table_)->require_vocabulary();
  Tensor indices(strings.shape(), DType::int64);
  auto* out = indices.mutable_data<std::int64_t>();
  const auto places = static_cast<std::uint64_t>(options_.num_oov_indices);
  for (const std::string& text : strings.values()) {
    *out++ = table_->index_of(text, [&](const std::string& unknown) {
      return static_cast<std::int64_t>(detail::salted_hash(unknown, options_.salt) % places);
    });
  }
  return table_->encoded(indices);
}

Strings StringLookup::operator()(const Tensor& indices) const {
  if (!options_.invert) fail<ValueError>(where_, "takes strings; use invert = true for indices");
  if (is_floating(indices.dtype())) {
    fail<DTypeError>(where_, "indices must be integers; got {}", indices);
  }
  detail::unmoved<StringLookup>(table_)->require_vocabulary();
  const Tensor wide = indices.cast(DType::int64);
  std::vector<std::string> strings;
  for (std::int64_t i = 0; i < wide.size(); ++i) {
    strings.push_back(table_->token_of(wide.data<std::int64_t>()[i]));
  }
  return {indices.shape(), std::move(strings)};
}

}  // namespace mezzo
