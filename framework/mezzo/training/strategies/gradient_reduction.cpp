#include <mezzo/training/strategies/gradient_reduction.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <variant>

#include <mezzo/compiler/custom_op.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/graph/insert.hpp>

namespace mezzo::detail {
namespace {

/// Elements of a bucket: large enough that latency doesn't count, small enough that the first is sent early.
constexpr std::int64_t bucket_elements = std::int64_t{1} << 20;

/// Calls body(one element of T) for the type of a floating dtype.
template <class Body>
void visit_floating(DType dtype, const Body& body) {
  if (dtype == DType::float32) return body(float());
  if (dtype == DType::float64) return body(double());
  if (dtype == DType::bfloat16) return body(bfloat16());
  if (dtype == DType::float16) return body(float16());
  fail<DTypeError>("[Trainer]", "gradients must be floating; got {}", dtype);
}

/// Type from which T is converted.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// The attribute `bucket` of a start and its finish: values under way.
struct Bucket final : AttributeFunction {
  Bucket(std::shared_ptr<Communicator> ranks, std::vector<Spec> of)
      : communicator(std::move(ranks)), specs(std::move(of)) {
    std::int64_t size = 0;
    bool wide = false;
    for (const Spec& spec : specs) {
      begins.push_back(size);
      size += element_count(spec.shape);
      wide = wide || spec.dtype == DType::float64;
    }
    begins.push_back(size);
    const auto count = static_cast<std::size_t>(size);
    if (wide) {
      sums = std::vector<double>(count);
    } else {
      sums = std::vector<float>(count);
    }
  }
  Bucket(const Bucket&) = delete;
  Bucket& operator=(const Bucket&) = delete;
  ~Bucket() override { settle(); }

  /// Returns when nothing is under way.
  void settle() const {
    try {
      request.wait();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): finish() or the next operation throws it
    }
  }

  void start(const KernelArguments& arguments) const {
    settle();  // of a step that an error has ended
    std::visit([&](auto& all) { start(arguments, all); }, sums);
  }

  void finish(const KernelArguments& arguments) const {
    request.wait();
    std::visit(
        [&](const auto& all) {
          for_parts([&](std::size_t i, auto zero, std::int64_t begin, std::int64_t end) {
            using T = decltype(zero);
            T* const out = arguments.out<T>(i);
            const auto* const from = all.data() + begins[i];
            for (std::int64_t j = begin; j < end; ++j) out[j] = static_cast<T>(static_cast<Wide<T>>(from[j]));
          });
        },
        sums);
  }

  std::shared_ptr<Communicator> communicator;
  std::vector<Spec> specs;
  std::vector<std::int64_t> begins;  // of each value in the sums, and their size
  mutable std::variant<std::vector<float>, std::vector<double>> sums;
  mutable RankRequest request;

 private:
  template <class Sum>
  void start(const KernelArguments& arguments, std::vector<Sum>& all) const {
    const auto share = static_cast<Sum>(*arguments.in<double>(specs.size()));
    for_parts([&](std::size_t i, auto zero, std::int64_t begin, std::int64_t end) {
      using T = decltype(zero);
      const T* const x = arguments.in<T>(i);
      Sum* const to = all.data() + begins[i];
      // A rank without samples adds nothing, whatever its numbers are.
      for (std::int64_t j = begin; j < end; ++j) {
        to[j] = share == 0 ? 0 : static_cast<Sum>(static_cast<Wide<T>>(x[j])) * share;
      }
    });
    request = communicator->start_all_reduce({all.data(), begins.back(), DTypeOf<Sum>::value});
    *arguments.out<double>(0) = 0;
  }

  template <class Body>
  void for_parts(const Body& body) const {
    for (std::size_t i = 0; i < specs.size(); ++i) {
      visit_floating(specs[i].dtype, [&](auto zero) {
        parallel_for(begins[i + 1] - begins[i], 1 << 14,
                     [&](std::int64_t begin, std::int64_t end) { body(i, zero, begin, end); });
      });
    }
  }
};

const Bucket& bucket_of(const Attributes& attributes) {
  return static_cast<const Bucket&>(*attributes.get<std::shared_ptr<const AttributeFunction>>("bucket"));
}

/// Inputs: the values, the share, then possibly the result of the start before. One result, which orders the nodes.
const CustomOp& start_op() {
  static const CustomOp one(
      {.name = "start_all_reduce",
       .kernel = [](const KernelCall& call) { bucket_of(call.request.attributes).start(call.arguments); },
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

/// Input: the result of the start. Results: the values.
const CustomOp& finish_op() {
  static const CustomOp one(
      {.name = "finish_all_reduce",
       .kernel = [](const KernelCall& call) { bucket_of(call.request.attributes).finish(call.arguments); },
       .dtypes = {DType::float64},
       .infer = [](const OpCall& call) { return bucket_of(call.attributes).specs; },
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

std::int64_t place_of(const Places& places, const Value& value) {
  const auto found = places.find(value.node().get());
  return found == places.end() ? -1 : found->second;
}

}  // namespace

void reduce_over_ranks(const std::shared_ptr<Communicator>& communicator, Values& values, Value& after) {
  const Places places = places_in(Trace::current()->graph());
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return place_of(places, values[a]) < place_of(places, values[b]);
  });
  const Value share = runtime_scalar(RuntimeScalar::sample_share);
  struct Started {
    std::vector<std::size_t> values;
    Value result;
    Attributes attributes;
  };
  std::vector<Started> buckets;
  for (std::size_t i = 0; i < order.size();) {
    Started bucket;
    Values operands;
    std::vector<Spec> specs;
    for (std::int64_t size = 0; i < order.size() && size < bucket_elements; ++i) {
      const Value& value = values[order[i]];
      bucket.values.push_back(order[i]);
      operands.push_back(value);
      specs.push_back({value.shape(), value.dtype()});
      size += element_count(value.shape());
    }
    bucket.attributes = {
        {"bucket", std::shared_ptr<const AttributeFunction>(std::make_shared<Bucket>(communicator, std::move(specs)))}};
    operands.push_back(share);
    if (after.defined()) operands.push_back(after);
    after = bucket.result = start_op()(operands, bucket.attributes)[0];
    buckets.push_back(std::move(bucket));
  }
  for (const Started& bucket : buckets) {
    const Values reduced = finish_op()(Values{bucket.result}, bucket.attributes);
    for (std::size_t i = 0; i < reduced.size(); ++i) values[bucket.values[i]] = reduced[i];
  }
}

void place_reductions(Graph& graph) {
  const Places places = places_in(graph);
  std::vector<NodePtr> starts;
  std::vector<std::int64_t> targets;  // the node after which each start comes
  std::vector<NodePtr> others;
  for (const NodePtr& node : graph.nodes) {
    if (!is(*node, start_op().op())) {
      others.push_back(node);
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
  std::vector<NodePtr> placed;
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
