#include <mezzo/backends/xsimd/chain.hpp>

#include <algorithm>
#include <array>
#include <bitset>
#include <set>

#include <mezzo/backends/common/walk.hpp>
#include <mezzo/backends/xsimd/conversions.hpp>
#include <mezzo/backends/xsimd/elementwise.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/past_caches.hpp>
#include <mezzo/ops/elementwise_program.hpp>
#include <mezzo/ops/op_set.hpp>

// Kernels of chains of elementwise ops. They interpret the program block by block: a block of every value lies in the
// first-level cache, as float32 numbers, and each step is one call of a vectorized function.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;
using Cast = CastFunctions::Cast;

constexpr Index largest_block = 512, smallest_block = 64, largest_period = 1024;  // in elements
constexpr Index capacity = 32768;                                                 // floats of a thread, on its stack
constexpr std::size_t most_values = 64;                                           // inputs and steps of a chain
constexpr Index cached = 6144;  // floats that stay in the first-level cache beside the arrays

/// The place of a block of a value.
struct Slot {
  enum class Kind { memory, numbers, pattern, converted, stretched } kind = Kind::numbers;
  Index offset = 0;  ///< of the thread's numbers, if kind isn't memory
  Index period = 0;  ///< pattern: elements after which the operand repeats
};

/// An input of a chain.
struct Source {
  Slot slot;
  Cast load = nullptr;  ///< to float32
  Index size = 0;       ///< bytes per element
  Walk walk;            ///< over the outputs, with the strides of this input
};

struct Instruction {
  ChainFunctions::Step step;
  std::array<std::size_t, 3> operands;
  std::size_t count, result;
  void (*round)(float* x, Index n) = nullptr;  ///< the result to a 16-bit dtype
};

struct Output {
  std::size_t value;
  DType dtype;
  bool direct = false;  ///< the step writes to the array
  bool large = false;   ///< see exceeds_caches()
};

bool takes(DType dtype) { return is_stored(dtype) || dtype == DType::boolean; }

/// The function of a step, or null.
ChainFunctions::Step function_of(const ElementwiseStep& step, const ChainFunctions& functions) {
  if (step.op == &ops::cast) return step.dtype == DType::boolean ? functions.truth : functions.copy;
  const bool approximate = step.attributes.get_or<bool>("approximate", false);
  const double max_value = step.attributes.get_or("max_value", 0.0);
  for (const auto& row : functions.rows) {
    if (step.op->name == row.op && row.approximate == approximate && row.max_value == max_value) {
      return step.dtype == DType::bfloat16 && row.bfloat16 != nullptr ? row.bfloat16 : row.step;
    }
  }
  return nullptr;
}

class Chain final : public Kernel {
 public:
  Chain(const KernelRequest& request, std::shared_ptr<const ElementwiseProgram> program, Isa isa)
      : program_(std::move(program)),
        functions_(kernels(isa).chain),
        casts_(kernels(isa).cast),
        shape_(request.outputs[0].shape),
        count_(element_count(shape_)),
        overwrites_(like_output(request)) {
    for (const Spec& input : request.inputs) add_source(input);
    place_values(request);
    for (std::size_t i = 0; i < program_->steps.size(); ++i) add_instruction(i);
  }

  void run(const KernelArguments& arguments) override {
    Choice past_caches;
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      const void* const* const last = arguments.inputs + sources_.size();
      const bool in_place = std::find(arguments.inputs, last, arguments.outputs[k]) != last;  // is in the caches
      // Blocks start cache lines too: they and the threads' ranges have multiples of 64 elements.
      past_caches[k] = outputs_[k].large && !in_place && starts_line(arguments.outputs[k]);
    }
    parallel_elements(count_, [&](Index begin, Index end) { run_range(arguments, past_caches, begin, end); });
  }

  bool may_overwrite(std::size_t i, std::size_t output) const override {
    return output == 0 && i < overwrites_.size() && overwrites_[i];
  }
  std::string detail() const override { return program_->steps.size() > 1 ? program_->text() : std::string(); }

  /// False if the values don't fit into the memory of a thread.
  bool fits() const { return block_ >= smallest_block; }

 private:
  using Choice = std::bitset<most_values>;  // of outputs

  void add_source(const Spec& input) {
    Source source{.slot = {},
                  .load = is_stored(input.dtype) ? casts_.from_storage[input.dtype].float32 : casts_.from_bytes.float32,
                  .size = size_of(input.dtype),
                  .walk = Walk(shape_, {broadcast_strides(input.shape, shape_)})};
    const Walk& walk = source.walk;
    const bool dense = walk.axes() == 1 && walk.step(0) == 1;
    const bool repeats = walk.axes() == 2 && walk.offset(0, 1) == 0 && walk.step(0) == 1;
    if (dense) {
      source.slot.kind = input.dtype == DType::float32 ? Slot::Kind::memory : Slot::Kind::converted;
    } else if (element_count(input.shape) == 1) {
      source.slot.kind = Slot::Kind::numbers;
    } else if (repeats && walk.row_size() <= largest_period) {
      source.slot.kind = Slot::Kind::pattern;
      source.slot.period = walk.row_size();
    } else {
      source.slot.kind = Slot::Kind::stretched;
    }
    sources_.push_back(std::move(source));
  }

  /// Assigns a place to each value that is not in memory. Places of values that are not read later are reused.
  void place_values(const KernelRequest& request) {
    const std::size_t n = program_->inputs, steps = program_->steps.size();
    std::vector<std::size_t> last(n + steps, 0);  // the step that reads the value last
    for (std::size_t i = 0; i < steps; ++i) {
      for (const std::size_t operand : program_->steps[i].operands) last[operand] = i;
    }
    std::size_t last_read_of_memory = 0;
    for (std::size_t k = 0; k < n; ++k) {
      if (sources_[k].slot.kind == Slot::Kind::memory) last_read_of_memory = std::max(last_read_of_memory, last[k]);
    }
    results_.resize(steps);
    for (std::size_t k = 0; k < program_->outputs.size(); ++k) {
      const std::size_t i = program_->outputs[k];
      const DType dtype = request.outputs[k].dtype;
      last[n + i] = steps;
      const bool large = is_stored(dtype) && exceeds_caches(request.outputs[k]);
      const bool direct = dtype == DType::float32 && !large && (k > 0 || i >= last_read_of_memory);
      outputs_.push_back({.value = n + i, .dtype = dtype, .direct = direct, .large = large});
      if (direct) results_[i].kind = Slot::Kind::memory;
    }
    std::vector<std::size_t> free_from;  // for each register, the step from which on it is free
    std::vector<std::size_t> registers(n + steps, 0);
    const auto take = [&](std::size_t value, std::size_t step) {
      const auto found = std::find_if(free_from.begin(), free_from.end(), [&](std::size_t s) { return s <= step; });
      registers[value] = static_cast<std::size_t>(found - free_from.begin());
      if (found == free_from.end()) free_from.push_back(0);
      free_from[registers[value]] = std::max(last[value], step + 1);
    };
    Index patterns = 0;
    std::size_t kept = 0;
    for (const Source& source : sources_) {
      patterns += source.slot.kind == Slot::Kind::pattern ? source.slot.period : 0;
      kept += source.slot.kind == Slot::Kind::memory ? 0 : 1;
    }
    // The inputs of a block are loaded first, so they don't share places.
    for (std::size_t i = 0; i < steps; ++i) {
      if (results_[i].kind != Slot::Kind::memory) take(n + i, i);
    }
    const auto blocks = static_cast<Index>(kept + free_from.size());
    block_ = largest_block;
    while (block_ > largest_block / 2 && blocks * block_ > cached) block_ /= 2;
    while (block_ >= smallest_block && blocks * block_ + patterns > capacity) block_ /= 2;
    Index offset = 0;
    for (Source& source : sources_) {
      if (source.slot.kind == Slot::Kind::memory) continue;
      source.slot.offset = offset;
      offset += block_ + source.slot.period;
    }
    for (std::size_t i = 0; i < steps; ++i) {
      results_[i].offset = offset + static_cast<Index>(registers[n + i]) * block_;
    }
  }

  void add_instruction(std::size_t i) {
    const ElementwiseStep& step = program_->steps[i];
    Instruction instruction{.step = function_of(step, functions_),
                            .operands = {},
                            .count = step.operands.size(),
                            .result = program_->inputs + i};
    std::copy(step.operands.begin(), step.operands.end(), instruction.operands.begin());
    // A result that is only written is rounded as it is written.
    const std::size_t result = instruction.result;
    const bool read = std::any_of(program_->steps.begin(), program_->steps.end(), [&](const ElementwiseStep& other) {
      return std::find(other.operands.begin(), other.operands.end(), result) != other.operands.end();
    });
    if (is_half(step.dtype) && read) instruction.round = functions_.round[step.dtype];
    instructions_.push_back(instruction);
  }

  void run_range(const KernelArguments& arguments, const Choice& past_caches, Index begin, Index end) const {
    alignas(64) float numbers[capacity];
    const float* values[most_values];
    for (std::size_t k = 0; k < sources_.size(); ++k) prepare(sources_[k], arguments.in<char>(k), numbers);
    for (Index i = begin; i < end; i += block_) {
      run_block(arguments, past_caches, i, std::min(block_, end - i), numbers, values);
    }
    if (past_caches.any()) finish_stores();
  }

  /// Loads the values that all blocks of a thread share: numbers and patterns.
  void prepare(const Source& source, const char* from, float* numbers) const {
    float* to = numbers + source.slot.offset;
    if (source.slot.kind == Slot::Kind::numbers) {
      float one = 0;
      source.load(from, &one, 1);
      std::fill_n(to, block_, one);
    } else if (source.slot.kind == Slot::Kind::pattern) {
      const Index period = source.slot.period;
      source.load(from, to, period);
      for (Index i = period; i < block_ + period; ++i) to[i] = to[i - period];
    }
  }

  void run_block(const KernelArguments& arguments, const Choice& past_caches, Index begin, Index count, float* numbers,
                 const float** values) const {
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      values[k] = load(sources_[k], arguments.in<char>(k), begin, count, numbers);
    }
    for (std::size_t i = 0; i < results_.size(); ++i) values[sources_.size() + i] = numbers + results_[i].offset;
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      if (outputs_[k].direct) values[outputs_[k].value] = arguments.out<float>(k) + begin;
    }
    for (const Instruction& one : instructions_) {
      const float* operands[3] = {};
      for (std::size_t k = 0; k < one.count; ++k) operands[k] = values[one.operands[k]];
      auto* result = const_cast<float*>(values[one.result]);
      one.step(operands[0], operands[1], operands[2], result, count);
      if (one.round != nullptr) one.round(result, count);
    }
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      if (outputs_[k].direct) continue;
      store(outputs_[k].dtype, past_caches[k], values[outputs_[k].value], arguments.out<char>(k), begin, count);
    }
  }

  static const float* load(const Source& source, const char* from, Index begin, Index count, float* numbers) {
    float* to = numbers + source.slot.offset;
    switch (source.slot.kind) {
      case Slot::Kind::memory:
        return reinterpret_cast<const float*>(from) + begin;
      case Slot::Kind::numbers:
        return to;
      case Slot::Kind::pattern:
        return to + begin % source.slot.period;
      case Slot::Kind::converted:
        source.load(from + begin * source.size, to, count);
        return to;
      case Slot::Kind::stretched:
        break;
    }
    const Index step = source.walk.step(0);
    source.walk.pieces(begin, begin + count, [&](Index i, Index n, Index row, Index column) {
      const char* piece = from + (source.walk.offset(0, row) + column * step) * source.size;
      float* part = to + (i - begin);
      source.load(piece, part, step == 0 ? 1 : n);
      if (step == 0) std::fill_n(part + 1, n - 1, *part);
    });
    return to;
  }

  void store(DType dtype, bool past_caches, const float* from, char* to, Index begin, Index count) const {
    to += begin * size_of(dtype);
    if (dtype == DType::boolean) {
      functions_.store_bools(from, reinterpret_cast<std::uint8_t*>(to), count);
    } else if (past_caches) {
      functions_.store_past_caches[dtype](from, to, count);
    } else {
      casts_.from_storage.float32[dtype](from, to, count);
    }
  }

  const std::shared_ptr<const ElementwiseProgram> program_;
  const ChainFunctions& functions_;
  const CastFunctions& casts_;
  const Shape shape_;
  const Index count_;
  const std::vector<bool> overwrites_;
  std::vector<Source> sources_;
  std::vector<Slot> results_;
  std::vector<Instruction> instructions_;
  std::vector<Output> outputs_;
  Index block_ = 0;
};

std::unique_ptr<Kernel> make(const KernelRequest& request, const std::shared_ptr<const ElementwiseProgram>& program,
                             Isa isa, std::string& reason) {
  for (const auto* specs : {&request.inputs, &request.outputs}) {
    for (const Spec& spec : *specs) {
      if (!takes(spec.dtype) && !(specs == &request.inputs && spec.dtype == DType::uint8)) {
        return decline(reason, "takes float32, bfloat16, float16 and bool; got {}", spec.dtype);
      }
    }
  }
  if (program->inputs + program->steps.size() > most_values) {
    return decline(reason, "takes up to {} inputs and steps; got {}", most_values,
                   program->inputs + program->steps.size());
  }
  for (const ElementwiseStep& step : program->steps) {
    if (!takes(step.dtype)) return decline(reason, "computes float32, bfloat16, float16 and bool; got {}", step.dtype);
    if (function_of(step, kernels(isa).chain) == nullptr) return decline(reason, "has no step {}", step.op->name);
  }
  auto kernel = std::make_unique<Chain>(request, program, isa);
  if (kernel->fits()) return kernel;
  return decline(reason, "has no memory for {} steps", program->steps.size());
}

std::unique_ptr<Kernel> make_chain(const KernelRequest& request, Isa isa, std::string& reason) {
  const auto& function = request.attributes.get<std::shared_ptr<const detail::AttributeFunction>>("program");
  return make(request, std::dynamic_pointer_cast<const ElementwiseProgram>(function), isa, reason);
}

/// The kernel of a single op: a chain of one step.
std::unique_ptr<Kernel> make_step(const KernelRequest& request, Isa isa, std::string& reason) {
  auto program = std::make_shared<ElementwiseProgram>();
  program->inputs = request.inputs.size();
  ElementwiseStep step;
  step.op = request.op;
  step.attributes = request.attributes;
  step.dtype = request.outputs[0].dtype;
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    if (request.inputs[i].dtype == DType::uint8) return decline_dtype(reason, DType::uint8);
    step.operands.push_back(i);
  }
  if (request.op != &ops::where && request.op != &ops::logical_and && request.op != &ops::logical_or &&
      request.op != &ops::logical_not && !is_stored(request.inputs[0].dtype)) {
    return decline_dtype(reason, request.inputs[0].dtype);
  }
  program->steps.push_back(std::move(step));
  program->outputs = {0};
  return make(request, program, isa, reason);
}

}  // namespace

Entries chain_entries() {
  Entries entries{entry<make_chain>("elementwise_chain")};
  std::set<std::string> known;
  const ElementwiseFunctions& own = any_kernels().elementwise;  // ops with a kernel of their own
  for (const auto& row : own.unary) known.insert(row.op);
  for (const auto& row : own.binary) known.insert(row.op);
  for (const auto& row : any_kernels().chain.rows) {
    if (known.insert(row.op).second) entries.push_back(entry<make_step>(row.op));
  }
  return entries;
}

}  // namespace mezzo::xsimd_kernels
