#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/attention/attention.hpp>

namespace mezzo {

namespace detail {
struct HeadProjectionOptions;
}  // namespace detail

/// Options of a call of MultiHeadAttention and GroupedQueryAttention.
struct AttentionCallOptions {
  Value key{};  ///< (batch, key positions, size of keys); default: the value
  Value
      query_mask{};  ///< (batch, query positions): false for queries that attend to nothing; default: the query's mask
  Value value_mask{};  ///< (batch, key positions): false for values without effect; default: the value's mask
  Value key_mask{};    ///< (batch, key positions), as value_mask; default: the key's mask
  /// bool, true where a query (axis -2) may attend to a key (axis -1): (batch, query positions, key positions), or
  /// (batch, heads, query positions, key positions). Sizes of 1 broadcast. Default: no mask.
  Value attention_mask{};
  std::optional<bool> training{};  ///< as in CallOptions
  bool use_causal_mask = false;    ///< true: query i attends to keys 0 to i only
};

namespace detail {
/// Base of MultiHeadAttention and GroupedQueryAttention: their calls, and projections to and from heads.
class MEZZO_API HeadAttention : public Layer {
 public:
  /// Runs the layer. Queries attend to the positions of key and value.
  Value operator()(const Value& query, const Value& value, const AttentionCallOptions& options = {});

  /// The same with the attention weights, (batch, heads, query positions, key positions): Keras'
  /// return_attention_scores.
  AttentionResult with_scores(const Value& query, const Value& value, const AttentionCallOptions& options = {});

  bool supports_masking() const override { return true; }
  Values compute_mask(const Values& inputs, const Values& masks) const override;
  Values call_with(const std::string& arguments, const Values& xs, const CallOptions& options) override;
  void build(const Shape&) override {}  // weights are made by the first call, since value and key may differ in size

 protected:
  /// The inputs behind their projections. `gate` is undefined without one.
  struct Heads {
    Value query, key, gate, value;
  };

  template <class Options>
  HeadAttention(const char* kind, const Options& options) : Layer(kind, options) {}

  std::string call_arguments() const override;

  /// Throws a ValueError for a negative sliding_window, a dropout outside of [0, 1), or one with flash_attention.
  void check_options(std::int64_t sliding_window, double dropout, std::optional<bool> flash_attention) const;

  /// Adds the projections. The output projection has `units` features; default: as many as the query.
  void add_projections(const detail::HeadProjectionOptions& query, const detail::HeadProjectionOptions& key,
                       const detail::HeadProjectionOptions& value, bool use_gate, const Shape& units);

  /// Throws a ValueError for a wrong number of inputs, or if the call requests scores with flash_attention, which does
  /// not store them.
  void check_call(const Values& xs, std::optional<bool> flash_attention) const;

  Heads heads_of(const Value& query, const Value& key, const Value& value);

  /// Results of call_many(): the projected output, and the scores if the call requests them.
  Values finished(const AttentionResult& result, const Value& gate, const Value& query);

  bool causal() const { return causal_; }               ///< option of the running call
  bool returns_scores() const { return with_scores_; }  ///< option of the running call

 private:
  Values run(const Value& query, const Value& value, const AttentionCallOptions& options, bool with_scores);

  bool causal_ = false;
  bool with_scores_ = false;
  Any<Layer> query_, key_, value_, gate_, output_;
};
}  // namespace detail

}  // namespace mezzo
