#include <map>

#include "cases.hpp"

namespace mezzo_bandwidth {
namespace {

constexpr const char* arithmetic =
    "bound by arithmetic: 25 to 60 instructions a register of float32 numbers, of which bfloat16 has twice as many a "
    "byte";
constexpr const char* sums_by_index =
    "sums in the order of the indices, for the same bits on any number of threads; lines are read where the indices "
    "say";
constexpr const char* few_terms =
    "partial results are combined and rounded one by one, which counts if few elements are reduced to each; bfloat16 "
    "also "
    "costs arithmetic: widening, and comparisons as integers";
constexpr const char* integers = "of integers alone: a plain loop";

}  // namespace

std::string reason_of(const std::string& op) {
  static const std::map<std::string, std::string> reasons{
      {"all", few_terms},
      {"any", few_terms},
      {"arccos", arithmetic},
      {"arccosh", arithmetic},
      {"arcsin", arithmetic},
      {"arcsinh", arithmetic},
      {"arctan", arithmetic},
      {"arctan2", arithmetic},
      {"arctanh", arithmetic},
      {"argmax", "compares as integers and keeps places"},
      {"argmin", "compares as integers and keeps places"},
      {"argsort", "sorts: about log2(n) passes over each line; threads share the lines"},
      {"bitwise_and", integers},
      {"bitwise_or", integers},
      {"bitwise_xor", integers},
      {"broadcast_to", "writes alone: memory reads each line before it is written, which isn't counted"},
      {"cbrt", arithmetic},
      {"cos", arithmetic},
      {"cosh", arithmetic},
      {"cumprod", "products in double, one after another"},
      {"cumprod_gradient", "reference kernel: two passes in double, one element after another"},
      {"cumsum", "sums in double, one after another"},
      {"dropout", "bound by arithmetic: ten rounds of Philox for four numbers"},
      {"erf", arithmetic},
      {"erfc", arithmetic},
      {"erfinv", arithmetic},
      {"exp", arithmetic},
      {"exp2", arithmetic},
      {"expm1", arithmetic},
      {"floor_divide", arithmetic},
      {"fmod", arithmetic},
      {"gather", "copies lines that lie where the indices say"},
      {"gather_gradient", sums_by_index},
      {"gather_gradient_rows", sums_by_index},
      {"add_gather_gradient", sums_by_index},
      {"gcd", "Euclid's algorithm, element by element"},
      {"gelu", arithmetic},
      {"gelu_gradient", arithmetic},
      {"hypot", arithmetic},
      {"in_top_k", "ranks of scores, element by element"},
      {"left_shift", integers},
      {"log", arithmetic},
      {"log10", arithmetic},
      {"log1p", arithmetic},
      {"log2", arithmetic},
      {"log_softmax", arithmetic},
      {"logaddexp", arithmetic},
      {"logical_and", "computed as float32 numbers"},
      {"logical_not", "computed as float32 numbers"},
      {"logical_or", "computed as float32 numbers"},
      {"max", few_terms},
      {"mean", few_terms},
      {"min", few_terms},
      {"mod", arithmetic},
      {"power", "powf of the C library, element by element: its logarithm needs more digits than float32 has"},
      {"prod", "products in double: half as many lanes, and partial results are combined one by one"},
      {"relu_bias_gradient",
       "three arrays and the sums of columns in one pass; bfloat16 costs arithmetic to widen and round"},
      {"right_shift", integers},
      {"rsqrt", "bound by the latency of square roots and divisions"},
      {"scatter_add", sums_by_index},
      {"scatter_add_along_axis", sums_by_index},
      {"searchsorted", "a binary search for each element"},
      {"segment_max", "ranks of elements; lines lie where the indices say"},
      {"sigmoid", arithmetic},
      {"sin", arithmetic},
      {"sinh", arithmetic},
      {"softplus", arithmetic},
      {"sparsemax", "about five passes over each row in the cache"},
      {"sum", few_terms},
      {"take", "reads element by element where the indices say"},
      {"take_along_axis", "reads element by element where the indices say"},
      {"tan", arithmetic},
      {"tanh", arithmetic},
      {"top_k", "selects by rank: an index beside each element"},
      {"transpose",
       "moves single elements, if an axis has fewer elements than a cache line; elements of 16 bits take twice the "
       "shuffles a byte"},
  };
  const auto found = reasons.find(op);
  return found == reasons.end() ? "" : found->second;
}

}  // namespace mezzo_bandwidth
