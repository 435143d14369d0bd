#include <exception>
#include <limits>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/data/gather.hpp>
#include <mezzo/data/text/packed_rows.hpp>
#include <mezzo/data/text/text_dataset.hpp>
#include <mezzo/data/text/tokenizer.hpp>

namespace mezzo {
namespace {

using Ids = std::vector<std::int64_t>;
using KeptIds = std::vector<std::int32_t>;

constexpr const char* pack_label = "[TextDataset.pack]";

bool is_id(std::int64_t id) { return id >= 0 && id <= std::numeric_limits<std::int32_t>::max(); }

/// Texts and how they are encoded.
struct PackedTexts {
  TextDataset texts;
  std::function<Ids(const std::string& text)> encode;
  PackTextsOptions options;
  std::vector<KeptIds> kept;  // by text; empty unless the text is longer than a row

  /// Tokens of a text, with the one at its end.
  Ids tokens(std::int64_t index) const {
    Ids ids = encoded(index);
    for (const std::int64_t id : ids) {
      if (!is_id(id)) {
        fail<ValueError>(pack_label, "ids must be 0 or more and below 2^31; got {} in text {}", id, index);
      }
      if (id == options.ignore_id) {
        fail<ValueError>(pack_label, "ids must not be ignore_id, which the loss leaves out; got {} in text {}", id,
                         index);
      }
    }
    if (options.end_id) ids.push_back(*options.end_id);
    return ids;
  }

  Ids encoded(std::int64_t index) const {
    try {
      return encode(texts.text(index));
    } catch (...) {
      detail::rethrow_with(fmt::format("{} text {}: ", pack_label, index));
    }
  }

  /// Encodes each text. Returns the numbers of tokens.
  std::vector<std::int64_t> count_tokens() {
    const auto count = static_cast<std::size_t>(texts.size());
    std::vector<std::int64_t> lengths(count);
    std::vector<std::exception_ptr> errors(count);
    kept.resize(count);
    parallel_for(texts.size(), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto at = static_cast<std::size_t>(i);
        try {
          const Ids ids = tokens(i);
          lengths[at] = static_cast<std::int64_t>(ids.size());
          if (lengths[at] > options.length) kept[at].assign(ids.begin(), ids.end());
        } catch (...) {
          errors[at] = std::current_exception();
        }
      }
    });
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
    return lengths;
  }
};

void check_packing(const PackTextsOptions& options) {
  if (options.length < 1) fail<ValueError>(pack_label, "length must be at least 1; got {}", options.length);
  const auto check_id = [](const char* option, std::int64_t id) {
    if (!is_id(id)) fail<ValueError>(pack_label, "{} must be 0 or more and below 2^31; got {}", option, id);
  };
  check_id("pad_id", options.pad_id);
  if (!options.end_id) return;
  check_id("end_id", *options.end_id);
  if (*options.end_id == options.ignore_id) {
    fail<ValueError>(pack_label, "end_id and ignore_id must differ; got {} for both", options.ignore_id);
  }
}

std::optional<std::string> token_of(const Tokenizer& tokenizer, std::int64_t id) {
  try {
    return tokenizer.id_to_token(id);
  } catch (const ValueError&) {
    return std::nullopt;
  }
}

void check_ids(const Tokenizer& tokenizer, const PackTextsOptions& options) {
  const auto check_token = [&](const char* option, std::int64_t id) {
    if (token_of(tokenizer, id)) return;
    fail<ValueError>(pack_label, "{} must be the id of a token; got {} for {} tokens", option, id,
                     tokenizer.vocab_size());
  };
  check_token("pad_id", options.pad_id);
  if (options.end_id) check_token("end_id", *options.end_id);
  const std::optional<std::string> ignored = token_of(tokenizer, options.ignore_id);
  if (!ignored || options.ignore_id == options.pad_id) return;
  fail<ValueError>(pack_label, "ignore_id must be pad_id or no id of a token; got {}, \"{}\"", options.ignore_id,
                   *ignored);
}

class PackedSource : public DatasetSource {
 public:
  PackedSource(PackedTexts packed, detail::PackedRows rows) : packed_(std::move(packed)), rows_(std::move(rows)) {
    const Shape shape{packed_.options.length};
    fields_ = {{"input_ids", shape, DType::int64, Role::input},
               {"position_ids", shape, DType::int64, Role::input},
               {"segment_ids", shape, DType::int64, Role::input},
               {"labels", shape, DType::int64, Role::target}};
  }

  std::int64_t size() const override { return rows_.size(); }
  const std::vector<Field>& fields() const override { return fields_; }

  void read(std::int64_t index, void* const* out) const override {
    std::int64_t* to[4];
    for (std::size_t i = 0; i < 4; ++i) to[i] = static_cast<std::int64_t*>(out[i]);
    const std::int64_t padding[4] = {packed_.options.pad_id, 0, 0, packed_.options.ignore_id};
    std::int64_t at = 0, segment = 0;
    for (const detail::PackedPart& part : rows_.row(index)) {
      const Ids ids = ids_of(part);
      ++segment;
      for (std::int64_t i = 0; i < part.count; ++i, ++at) {
        const auto next = static_cast<std::size_t>(part.begin + i + 1);
        to[0][at] = ids[next - 1];
        to[1][at] = i;
        to[2][at] = segment;
        to[3][at] = next < ids.size() ? ids[next] : packed_.options.ignore_id;
      }
    }
    for (; at < packed_.options.length; ++at) {
      for (std::size_t i = 0; i < 4; ++i) to[i][at] = padding[i];
    }
  }

 private:
  Ids ids_of(const detail::PackedPart& part) const {
    const KeptIds& kept = packed_.kept[static_cast<std::size_t>(part.text)];
    if (!kept.empty()) return {kept.begin(), kept.end()};
    Ids ids = packed_.tokens(part.text);
    if (static_cast<std::int64_t>(ids.size()) != part.whole) {
      fail<ValueError>(pack_label, "text {} must have {} tokens, as when it was packed; got {}", part.text, part.whole,
                       ids.size());
    }
    return ids;
  }

  PackedTexts packed_;
  detail::PackedRows rows_;
  std::vector<Field> fields_;
};

}  // namespace

Dataset TextDataset::pack(std::function<std::vector<std::int64_t>(const std::string&)> encode,
                          const PackTextsOptions& options) const {
  if (!encode) fail<ValueError>(pack_label, "encode must be given; got none");
  check_packing(options);
  const detail::PackingStrategy strategy = detail::packing_strategy(options.strategy, pack_label);
  PackedTexts packed{*this, std::move(encode), options, {}};
  detail::PackedRows rows(packed.count_tokens(), options.length, strategy);
  if (rows.size() == 0) fail<ValueError>(pack_label, "the texts must have tokens; got {} texts without any", size());
  return PackedSource(std::move(packed), std::move(rows));
}

Dataset TextDataset::pack(const Tokenizer& tokenizer, const PackTextsOptions& options) const {
  Tokenizer unpadded = tokenizer;
  unpadded.no_padding();
  check_ids(tokenizer, options);
  return pack([unpadded](const std::string& text) { return unpadded.encode(text).ids; }, options);
}

}  // namespace mezzo
