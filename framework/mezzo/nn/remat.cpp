#include <mezzo/nn/remat.hpp>

#include <utility>

#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

/// The part of a thread's ExecutionContext for new layers.
struct RematContext {
  detail::RematRule rule;
};

detail::RematRule& innermost_rule() { return detail::ExecutionContext::current().part<RematContext>().rule; }

detail::RematRule rule_of(const RematOptions& options) {
  if (options.output_size_threshold < 0) {
    fail<ValueError>("[RematScope]", "output_size_threshold must be at least 0; got {}", options.output_size_threshold);
  }
  if (options.mode == "none") return {};
  if (options.mode == "full") return {detail::RematRule::Mode::full, 0};
  if (options.mode == "larger_than") return {detail::RematRule::Mode::larger_than, options.output_size_threshold};
  fail<ValueError>("[RematScope]", "mode must be \"full\", \"larger_than\" or \"none\"; got \"{}\"", options.mode);
}

}  // namespace

RematScope::RematScope(const RematOptions& options) : outer_(std::exchange(innermost_rule(), rule_of(options))) {}
RematScope::~RematScope() { innermost_rule() = outer_; }

detail::RematRule detail::current_remat_rule() { return innermost_rule(); }

bool detail::computed_again(const detail::RematRule& rule, const Values& outputs) {
  if (rule.mode != detail::RematRule::Mode::larger_than) return rule.mode == detail::RematRule::Mode::full;
  std::int64_t elements = 0;
  for (const Value& y : outputs) {
    std::int64_t of_sample = 1;
    for (std::size_t axis = 1; axis < y.shape().size(); ++axis) {
      if (y.shape()[axis] >= 0) of_sample *= y.shape()[axis];  // a functional graph may leave it open
    }
    elements += of_sample;
  }
  return elements > rule.threshold;
}

}  // namespace mezzo
