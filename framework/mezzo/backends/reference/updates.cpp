#include <array>
#include <cmath>
#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/update_request.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/convert.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/core/split_float.hpp>

// Elementwise: all inputs of an element are read before its outputs are written, so outputs may lie on inputs.
namespace mezzo::reference {
namespace {

using Kept = UpdateRequest::Kept;

/// Reads element i of an array of any floating dtype as a T.
template <class T>
T read(const void* array, DType dtype, std::int64_t i) {
  switch (dtype) {
    case DType::float64:
      return convert<T>(static_cast<const double*>(array)[i]);
    case DType::bfloat16:
      return convert<T>(static_cast<const bfloat16*>(array)[i]);
    case DType::float16:
      return convert<T>(static_cast<const float16*>(array)[i]);
    default:
      return convert<T>(static_cast<const float*>(array)[i]);
  }
}

/// Writes x to element i of an array of any floating dtype.
template <class T>
void write(void* array, DType dtype, std::int64_t i, T x) {
  switch (dtype) {
    case DType::float64:
      static_cast<double*>(array)[i] = convert<double>(x);
      break;
    case DType::bfloat16:
      static_cast<bfloat16*>(array)[i] = convert<bfloat16>(x);
      break;
    case DType::float16:
      static_cast<float16*>(array)[i] = convert<float16>(x);
      break;
    default:
      static_cast<float*>(array)[i] = convert<float>(x);
  }
}

/// The random word of element i.
std::uint32_t random_word(std::uint64_t stream, std::int64_t i) {
  const auto place = static_cast<std::uint64_t>(i);
  return philox(stream, place / 4)[place % 4];
}

/// Updates elements in T. A rule T(gradient, slots) returns the change of the variable and updates the slots.
template <class T>
class Elements {
 public:
  Elements(const UpdateRequest& request, const KernelArguments& arguments, double decay, double multiplier)
      : r_(request),
        a_(arguments),
        decay_(static_cast<T>(decay)),
        multiplier_(static_cast<T>(multiplier)),
        limit_(static_cast<T>(request.clipvalue)),
        slot_stream_(request.slot_stream(arguments)),
        variable_stream_(request.variable_stream(arguments)) {}

  template <class Rule>
  void update(std::int64_t i, const Rule& rule) const {
    std::array<T, 2> slots{};
    for (std::size_t s = 0; s < r_.slots; ++s) slots[s] = read<T>(a_.inputs[2 + s], r_.slot, i);
    const T change = rule(gradient(i), slots);
    change_variable(i, change);
    const bool rounds = r_.random && r_.slot == DType::bfloat16;
    const std::uint32_t word = rounds && r_.slots > 0 ? random_word(slot_stream_, i) : 0;
    for (std::size_t s = 0; s < r_.slots; ++s) {
      if (rounds) {
        a_.out<bfloat16>(1 + s)[i] = round_stochastically(static_cast<float>(slots[s]), word >> (16 * s));
      } else {
        write(a_.outputs[1 + s], r_.slot, i, slots[s]);
      }
    }
  }

 private:
  T gradient(std::int64_t i) const {
    std::int64_t from = i;
    if (r_.columns > 0) {
      const std::int32_t place = a_.in<std::int32_t>(r_.places)[i / r_.columns];
      if (place < 0) return 0;
      from = place * r_.columns + i % r_.columns;
    }
    const T g = read<T>(a_.inputs[1], r_.gradient, from) * multiplier_;
    if (limit_ == 0) return g;
    return g > limit_ ? limit_ : g < -limit_ ? -limit_ : g;
  }

  void change_variable(std::int64_t i, T change) const {
    if (r_.kept == Kept::split) {
      SplitFloat halves;
      halves.high = a_.in<bfloat16>(0)[i];
      halves.low = a_.in<std::int16_t>(r_.beside)[i];
      halves = SplitFloat(static_cast<float>(decayed(static_cast<T>(static_cast<float>(halves))) + change));
      a_.out<bfloat16>(0)[i] = halves.high;
      a_.out<std::int16_t>(r_.beside - 1)[i] = halves.low;
      return;
    }
    const T w = read<T>(a_.inputs[0], r_.variable, i);
    if (r_.kept == Kept::kahan) {
      const T lost = read<T>(a_.inputs[r_.beside], r_.variable, i);
      const T whole = (decay_ != 0 ? lost - decay_ * w : lost) + change;
      write(a_.outputs[0], r_.variable, i, w + whole);
      const T rounded = read<T>(a_.outputs[0], r_.variable, i);
      write(a_.outputs[r_.beside - 1], r_.variable, i, whole + (w - rounded));
    } else if (r_.kept == Kept::stochastic) {
      a_.out<bfloat16>(0)[i] =
          round_stochastically(static_cast<float>(decayed(w) + change), random_word(variable_stream_, i));
    } else {
      write(a_.outputs[0], r_.variable, i, decayed(w) + change);
      if (r_.has_copy) write(a_.outputs[1 + r_.slots], r_.copy, i, read<T>(a_.outputs[0], r_.variable, i));
    }
  }

  T decayed(T w) const { return decay_ != 0 ? w - decay_ * w : w; }

  const UpdateRequest& r_;
  const KernelArguments& a_;
  T decay_, multiplier_, limit_;
  std::uint64_t slot_stream_, variable_stream_;
};

/// A kernel that creates its rule from the runtime scalars of each run by `make_rule`. `multiplier` is the index of the
/// scalar that gradients are multiplied with.
template <class T, class MakeRule>
std::unique_ptr<Kernel> update_kernel(const KernelRequest& request, std::size_t slots, std::size_t multiplier,
                                      MakeRule make_rule) {
  const auto run = [r = UpdateRequest(request, slots), multiplier, make_rule](const KernelArguments& arguments) {
    const auto rule = make_rule(r, arguments);
    const Elements<T> elements(r, arguments, r.number(arguments, 0) * r.weight_decay, r.number(arguments, multiplier));
    parallel_for(r.count, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) elements.update(i, rule);
    });
  };
  return make_kernel(run, overwritten_by_update(request));
}

template <class T>
std::unique_ptr<Kernel> sgd_update(const KernelRequest& request) {
  const double momentum = request.attributes.get<double>("momentum");
  const bool nesterov = request.attributes.get<bool>("nesterov");
  const auto make_rule = [=](const UpdateRequest& r, const KernelArguments& arguments) {
    return
        [=, lr = static_cast<T>(r.number(arguments, 0)), m = static_cast<T>(momentum)](T g, std::array<T, 2>& slots) {
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
    return [=](T g, std::array<T, 2>& slots) {
      auto& [m, v] = slots;
      m += (g - m) * rest_1;
      v += (g * g - v) * rest_2;
      return -(alpha * m / (std::sqrt(v) + epsilon));
    };
  };
  return update_kernel<T>(request, 2, 2, make_rule);
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
