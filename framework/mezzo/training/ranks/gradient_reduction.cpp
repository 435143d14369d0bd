#include <mezzo/training/ranks/gradient_reduction.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

#include <mezzo/compiler/overflow.hpp>
#include <mezzo/graph/insert.hpp>

namespace mezzo::detail {
namespace {

/// Elements of a bucket: large enough that latency is negligible, small enough that the first is sent early.
constexpr std::int64_t bucket_elements = std::int64_t{1} << 20;

std::shared_ptr<const GradientBucket> bucket_of(const Attributes& attributes) {
  return std::static_pointer_cast<const GradientBucket>(
      attributes.get<std::shared_ptr<const AttributeFunction>>("bucket"));
}

/// Inputs: those of the bucket, then possibly the result of the start before. One result, which orders the nodes.
const CustomOp& start_op() {
  static const CustomOp one(
      {.name = "start_all_reduce",
       .kernel =
           [](const KernelCall& call) { bucket_of(call.request.attributes)->start(call.request, call.arguments); },
       .dtypes = {DType::float32, DType::float64, DType::bfloat16, DType::float16},
       .infer =
           [](const OpCall&) {
             return std::vector<Spec>{{Shape{}, DType::float64}};
           },
       .cast = CastRule{{Cast::keep}, true, false},
       .widens = false,
       .effect = true});
  return one;
}

/// Input: the result of the start. Results: those of the bucket.
const CustomOp& finish_op() {
  static const CustomOp one(
      {.name = "finish_all_reduce",
       .kernel = [](const KernelCall& call) { bucket_of(call.request.attributes)->finish(call.arguments); },
       .dtypes = {DType::float64},
       .infer = [](const OpCall& call) { return bucket_of(call.attributes)->results(); },
       .cast = CastRule{{Cast::keep}, true, false},
       .widens = false,
       .effect = true});
  return one;
}

using Places = std::unordered_map<const Node*, std::int64_t>;

Places places_in(const Graph& graph) {
  Places out;
  for (const NodePtr& node : graph.nodes) out.emplace(node.get(), static_cast<std::int64_t>(out.size()));
  return out;
}

bool is_leaf(const Node& node) { return node.op->infer == nullptr; }

/// -1 for leaves, which may come first.
std::int64_t place_of(const Places& places, const Value& value) {
  const auto found = places.find(value.node().get());
  return found == places.end() || is_leaf(*value.node()) ? -1 : found->second;
}

/// Operands of a start and items of its bucket.
class BucketInputs {
 public:
  BucketItem add(const Reduced& reduced) {
    BucketItem item{.value = input(reduced.value),
                    .weighted = reduced.weighted,
                    .errors = reduced.errors,
                    .result = {reduced.value.shape(), reduced.value.dtype()}};
    if (reduced.factor.defined()) item.factor = input(reduced.factor);
    if (reduced.sum.defined()) {
      item.sum = input(reduced.sum);
      item.result.dtype = reduced.sum.dtype();
    }
    return item;
  }

  std::size_t input(const Value& value) {
    values.push_back(value);
    return values.size() - 1;
  }

  Values values;
};

}  // namespace

void reduce_over_ranks(const std::shared_ptr<Communicator>& communicator, std::vector<Reduced>& values, Value& after) {
  const Places places = places_in(Trace::current()->graph());
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return place_of(places, values[a].value) < place_of(places, values[b].value);
  });
  const Value share = runtime_scalar(RuntimeScalar::sample_share);
  const bool owned = !values.empty() && values.front().owner >= 0;
  const auto ranks = owned ? static_cast<std::size_t>(communicator->size()) : 1;
  struct Started {
    std::vector<std::size_t> results;  // values that become them
    Shape sent;                        // for each its operand of the start
    Value result;
    Attributes attributes;
  };
  std::vector<Started> buckets;
  for (std::size_t i = 0; i < order.size();) {
    Started bucket;
    BucketInputs inputs;
    std::vector<std::vector<BucketItem>> items(ranks);
    for (std::int64_t size = 0; i < order.size() && size < bucket_elements; ++i) {
      const Reduced& value = values[order[i]];
      const BucketItem item = inputs.add(value);
      items[owned ? static_cast<std::size_t>(value.owner) : 0].push_back(item);
      if (!owned || value.owner == communicator->rank()) {
        bucket.results.push_back(order[i]);
        bucket.sent.push_back(static_cast<std::int64_t>(item.value));
      }
      size += element_count(value.value.shape());
    }
    const std::size_t last = inputs.input(share);
    const auto made = owned ? std::make_shared<GradientBucket>(communicator, items, last)
                            : std::make_shared<GradientBucket>(communicator, items.front(), last);
    bucket.attributes = {{"bucket", std::shared_ptr<const AttributeFunction>(made)}};
    if (after.defined()) inputs.input(after);
    Attributes start = bucket.attributes;
    start.set(orders_only, true);
    after = bucket.result = start_op()(inputs.values, start)[0];
    buckets.push_back(std::move(bucket));
  }
  for (Reduced& value : values) value.value = {};
  for (const Started& bucket : buckets) {
    if (bucket.results.empty()) continue;
    Attributes finish = bucket.attributes;
    finish.set(sent_inputs, bucket.sent);
    const Values reduced = finish_op()(Values{bucket.result}, finish);
    for (std::size_t i = 0; i < bucket.results.size(); ++i) values[bucket.results[i]].value = reduced[i];
  }
}

std::vector<std::shared_ptr<const GradientBucket>> buckets_in(const Graph& graph) {
  std::vector<std::shared_ptr<const GradientBucket>> out;
  for (const NodePtr& node : graph.nodes) {
    if (is(*node, start_op().op())) out.push_back(bucket_of(node->attributes));
  }
  return out;
}

void place_reductions(Graph& graph) {
  const Places places = places_in(graph);
  std::vector<NodePtr> starts;
  std::vector<std::int64_t> targets;  // the node after which each start comes
  std::vector<NodePtr> leaves, others;
  for (const NodePtr& node : graph.nodes) {
    if (!is(*node, start_op().op())) {
      (is_leaf(*node) ? leaves : others).push_back(node);
      continue;
    }
    std::int64_t last = -1;
    for (const Value& input : node->inputs) {
      const bool orders = is(*input.node(), start_op().op());
      if (!orders) last = std::max(last, place_of(places, input));
    }
    starts.push_back(node);
    targets.push_back(targets.empty() ? last : std::max(last, targets.back()));
  }
  if (starts.empty()) return;
  std::vector<NodePtr> placed = std::move(leaves);
  std::size_t next = 0;
  const auto place_until = [&](std::int64_t place) {
    for (; next < starts.size() && targets[next] <= place; ++next) placed.push_back(starts[next]);
  };
  place_until(-1);
  for (const NodePtr& node : others) {
    placed.push_back(node);
    place_until(places.at(node.get()));
  }
  place_until(std::numeric_limits<std::int64_t>::max());
  graph.nodes = std::move(placed);
}

}  // namespace mezzo::detail
