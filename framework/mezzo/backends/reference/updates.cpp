#include <algorithm>
#include <cmath>
#include <cstdint>

#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/update_elements.hpp>
#include <mezzo/backends/reference/update_rules.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/ops/update_rules.hpp>

namespace mezzo::reference {
namespace {

/// A kernel that creates its rule from the runtime scalars of each run by `make_rule`. `multiplier` is the index of the
/// scalar that gradients are multiplied with.
template <class T, class MakeRule>
std::unique_ptr<Kernel> update_kernel(const KernelRequest& request, std::size_t slots, std::size_t multiplier,
                                      MakeRule make_rule) {
  const auto run = [r = UpdateRequest(request, slots), multiplier, make_rule](const KernelArguments& arguments) {
    const auto rule = make_rule(r, arguments);
    const Elements<T> elements(r, arguments, r.number(arguments, 0) * r.weight_decay, r.number(arguments, multiplier));
    constexpr std::int64_t block = detail::DynamicCode::block;
    parallel_for(detail::DynamicCode::blocks_of(r.count), grain / block, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        elements.update(i * block, std::min((i + 1) * block, r.count), rule);
      }
    });
  };
  return make_kernel(run, overwritten_by_update(request));
}

template <class T>
std::unique_ptr<Kernel> sgd_update(const KernelRequest& request) {
  const double momentum = request.attributes.get<double>("momentum");
  const bool nesterov = request.attributes.get<bool>("nesterov");
  const auto make_rule = [=](const UpdateRequest& r, const KernelArguments& arguments) {
    return [=, lr = static_cast<T>(r.number(arguments, 0)), m = static_cast<T>(momentum)](T g, T, RuleSlots<T>& slots) {
      if (momentum == 0) return -(lr * g);
      slots[0] = m * slots[0] - lr * g;
      return nesterov ? m * slots[0] - lr * g : slots[0];
    };
  };
  return update_kernel<T>(request, momentum > 0 ? 1 : 0, 1, make_rule);
}

template <class T>
std::unique_ptr<Kernel> adam_update(const KernelRequest& request) {
  const double beta_1 = request.attributes.get<double>("beta_1");
  const double beta_2 = request.attributes.get<double>("beta_2");
  const auto epsilon = static_cast<T>(request.attributes.get<double>("epsilon"));
  const auto make_rule = [=](const UpdateRequest& r, const KernelArguments& arguments) {
    const double rate = r.number(arguments, 0), t = r.number(arguments, 1);
    const auto alpha = static_cast<T>(rate * std::sqrt(1 - std::pow(beta_2, t)) / (1 - std::pow(beta_1, t)));
    const auto rest_1 = static_cast<T>(1 - beta_1), rest_2 = static_cast<T>(1 - beta_2);
    return [=](T g, T, RuleSlots<T>& slots) {
      auto& [m, v, unused] = slots;
      m += (g - m) * rest_1;
      v += (g * g - v) * rest_2;
      return -(alpha * m / (std::sqrt(v) + epsilon));
    };
  };
  return update_kernel<T>(request, 2, 2, make_rule);
}

/// A kernel for optimizer_update. Rules that need norms read everything twice.
template <class T>
std::unique_ptr<Kernel> optimizer_update(const KernelRequest& request) {
  const Attributes attributes = request.attributes;
  const std::string rule_name = attributes.get<std::string>("rule");
  const Rule<T> rule = find_rule<T>(rule_name);
  const RuleNorms norms = rule_norms(rule_name);
  const auto slots = static_cast<std::size_t>(attributes.get<std::int64_t>("slots"));
  const auto make_rule = [=](const UpdateRequest& r, const KernelArguments& arguments) {
    const double rate = r.number(arguments, 0);
    RuleNumbers<double> numbers = rule_numbers(rule_name, attributes, rate, r.number(arguments, 1));
    if (norms != RuleNorms::none) {
      const Elements<T> elements(r, arguments, rate * r.weight_decay, r.number(arguments, 2));
      const auto n = numbers.as<T>();
      double of_variable = 0, of_other = 0;
      for (std::int64_t i = 0; i < r.count; ++i) {
        const T w = elements.variable(i), g = elements.gradient(i);
        RuleSlots<T> copies = elements.slots_at(i);
        const auto other = static_cast<double>(norms == RuleNorms::of_gradient ? g : rule(n, g, w, copies));
        of_variable += static_cast<double>(w) * static_cast<double>(w);
        of_other += other * other;
      }
      set_norms(numbers, rule_name, attributes, rate, std::sqrt(of_variable), std::sqrt(of_other));
    }
    return [rule, n = numbers.as<T>()](T g, T w, RuleSlots<T>& all) { return rule(n, g, w, all); };
  };
  return update_kernel<T>(request, slots, 2, make_rule);
}

/// Calls make(zero of the type to compute in); declines if the variable or its gradient is not floating.
template <class Make>
std::unique_ptr<Kernel> for_variable(const KernelRequest& request, std::string& reason, Make&& make) {
  if (!is_floating(request.inputs[0].dtype) || !is_floating(request.inputs[1].dtype)) {
    reason = "computes floats only";
    return nullptr;
  }
  return request.inputs[0].dtype == DType::float64 ? make(double{}) : make(float{});
}

}  // namespace

std::unique_ptr<Kernel> create_sgd_update(const KernelRequest& request, std::string& reason) {
  return for_variable(request, reason, [&](auto zero) { return sgd_update<decltype(zero)>(request); });
}

std::unique_ptr<Kernel> create_adam_update(const KernelRequest& request, std::string& reason) {
  return for_variable(request, reason, [&](auto zero) { return adam_update<decltype(zero)>(request); });
}

std::unique_ptr<Kernel> create_optimizer_update(const KernelRequest& request, std::string& reason) {
  return for_variable(request, reason, [&](auto zero) { return optimizer_update<decltype(zero)>(request); });
}

std::unique_ptr<Kernel> create_join_master(const KernelRequest& request, std::string&) {
  return make_kernel([count = element_count(request.inputs[0].shape)](const KernelArguments& arguments) {
    parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        SplitFloat x;
        x.high = arguments.in<bfloat16>(0)[i];
        x.low = arguments.in<std::int16_t>(1)[i];
        arguments.out<float>(0)[i] = static_cast<float>(x);
      }
    });
  });
}

std::unique_ptr<Kernel> create_split_master(const KernelRequest& request, std::string&) {
  return make_kernel([count = element_count(request.inputs[0].shape)](const KernelArguments& arguments) {
    parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const SplitFloat x(arguments.in<float>(0)[i]);
        arguments.out<bfloat16>(0)[i] = x.high;
        arguments.out<std::int16_t>(1)[i] = x.low;
      }
    });
  });
}

}  // namespace mezzo::reference
