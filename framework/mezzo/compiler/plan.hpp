#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/compiler/memory.hpp>
#include <mezzo/compiler/overflow.hpp>
#include <mezzo/compiler/profile.hpp>
#include <mezzo/compiler/update_count.hpp>
#include <mezzo/graph/trace.hpp>

namespace mezzo {

class PlanBuilder;
class UpdateSchedule;
class BufferPlacement;

namespace detail {
/// A compiled step: a list of kernels in execution order, with their addresses in one arena. run() allocates no memory.
class Plan {
 public:
  /// Chooses kernels and places buffers. `graph` is the result of run_passes().
  Plan(const Graph& graph, std::shared_ptr<Arena> arena);

  /// Keys of the runtime scalars, in the order of the argument `runtime` of run().
  const std::vector<RuntimeKey>& runtime_keys() const { return runtime_keys_; }

  /// Specs of the arrays, in the order of the argument `inputs` of run().
  const std::vector<Spec>& inputs() const { return input_specs_; }

  /// Runs kernels up to the gates (finite loss, finite gradients), evaluates the gates, then runs the updates whose
  /// gate passed. A kernel that may throw runs before the gates. If a kernel or a gate with an error text throws, no
  /// variable has changed. `inputs` must match inputs() in shape and dtype: a ShapeError otherwise. `runtime` must have
  /// one number per runtime_keys(): a ValueError otherwise. With `seek_overflow`, if a gate stays closed, the kernels
  /// up to the gates run once more and every result is checked for infinity and NaN; see overflow(). The same happens
  /// before the error of a gate; its text names the first such value. With `check_outputs`, outputs are checked for
  /// infinity and NaN before variables change, and the origin is found in the same way; see non_finite_output().
  /// `count`: receives the updates of the run, if not null.
  void run(const std::vector<Tensor>& inputs, const std::vector<double>& runtime, bool seek_overflow = false,
           bool check_outputs = false, UpdateCount* count = nullptr);

  /// Runs all kernels on the arrays at these addresses, one per inputs(). For the body of a loop: a plan that has
  /// neither variables, runtime scalars, gates nor updates. Its arena must have arena_bytes() already.
  void run_body(const void* const* inputs);

  /// Address of an output of the last run.
  const void* output_address(std::size_t i) const { return buffers_[outputs_[i]].address; }

  /// True if the last run committed the group's updates.
  bool committed(int group) const;

  /// True if the last run did not commit them only because a condition (OnFailure::leave_out) was false.
  bool left_out(int group) const;

  /// The first value with an infinity or NaN behind the group's closed gate in the last run. None without
  /// `seek_overflow`, and if no such value was found.
  std::optional<Overflow> overflow(int group) const;

  /// The first output with an infinity or NaN in a run with `check_outputs`.
  struct NonFiniteOutput {
    std::string name;
    std::optional<Overflow> origin;  ///< none if unknown
  };
  const std::optional<NonFiniteOutput>& non_finite_output() const { return non_finite_output_; }

  const std::vector<std::string>& output_names() const { return output_names_; }

  /// The only element of an output of the last run.
  double scalar(std::size_t i) const;

  /// A copy of an output of the last run.
  Tensor output(std::size_t i) const;

  /// One kernel of the plan, as explain() shows it.
  struct Row {
    std::string op;                     ///< name of the op
    std::string path;                   ///< path of the layer; empty outside of layers
    std::string kernel;                 ///< name of the implementation
    std::string detail;                 ///< Kernel::detail()
    std::string outputs;                ///< specs of the outputs, separated by commas
    std::vector<std::string> declined;  ///< implementations that declined, with their reasons
    bool again = false;                 ///< repeats a computation of the forward pass (Layer::set_remat)
    std::size_t bytes = 0;              ///< read and written
    double operations = 0;              ///< multiplications and additions of products and convolutions
  };
  std::vector<Row> rows() const;
  std::size_t arena_bytes() const { return arena_bytes_; }

  /// Work of a run outside of its kernels.
  enum class Chore { bind, refresh_copies, ask_gates, commit };
  static constexpr std::size_t chores = 4;

  /// Times of the runs. Laps: the kernels in the order of rows(), then the chores in the order of the enum.
  const Profile& profile() const { return profile_; }

  /// Numbers of the laps in the order of a run.
  std::vector<std::size_t> lap_order() const;

  /// Adds the wall time of the last run as measured by the caller, including its own set-up.
  void count_wall(Profile::Clock::duration time) { profile_.count_wall(time); }

 private:
  friend class mezzo::PlanBuilder;
  friend class mezzo::UpdateSchedule;
  friend class mezzo::BufferPlacement;

  /// An array: its memory, spec and address in the current run.
  struct Buffer {
    enum class Home { arena, input, variable, copy, runtime, constant } home = Home::arena;
    std::size_t index = 0;  ///< offset in the arena; otherwise index in the list of its home
    Spec spec;
    void* address = nullptr;
  };
  struct Step {
    NodePtr node;
    ChosenKernel chosen;
    std::vector<std::size_t> reads, writes;  ///< buffers
    std::vector<const void*> in;
    std::vector<void*> out;
    std::size_t scratch_offset = 0;
    bool updates = false;  ///< writes variables; skipped if the group's gate is closed
    int group = -1;
    bool copies = false;  ///< copies an output of `node` into the arena, to keep it until the next run
  };
  struct Copy {
    std::shared_ptr<VariableState> variable;
    DType dtype = DType::float32;
    std::size_t entry = 0;  ///< in the arena's copies
    std::unique_ptr<Kernel> refresh;
    bool written = false;  ///< by the optimizer's kernel, together with the variable
    int group = -1;        ///< of that update
  };
  struct Commit {
    std::shared_ptr<VariableState> variable;
    std::size_t buffer = 0;
    int group = -1;
    bool in_place = false;  ///< the kernel writes to the variable itself
  };
  struct Gate : Graph::Gate {
    std::size_t buffer = 0;
  };

  static bool computes_with(const void* plan, const detail::Usage& usage);
  void take(const std::vector<Tensor>& inputs, const std::vector<double>& runtime);
  void bind(const void* const* inputs);
  void refresh_copies();
  void* address_of(const Copy& copy) const { return arena_->data() + arena_->copies[copy.entry].offset; }
  void run_steps(std::size_t begin, std::size_t end, UpdateCount* count);
  void ask_gates(bool seek);
  bool opened(const Gate& gate) const { return *static_cast<const bool*>(buffers_[gate.buffer].address); }
  void seek_overflow();
  void check_outputs();
  Overflows noted(std::size_t steps);  // of the first steps, which are repeated
  void note_operands(const Step& step, Overflows& overflows) const;
  void commit();
  void end_of(Chore chore) { profile_.lap(steps_.size() + static_cast<std::size_t>(chore)); }

  std::shared_ptr<Arena> arena_;
  std::size_t arena_bytes_ = 0;
  std::vector<Spec> input_specs_;
  std::vector<RuntimeKey> runtime_keys_;
  std::vector<std::string> output_names_;
  std::vector<Buffer> buffers_;
  std::vector<std::shared_ptr<VariableState>> variables_;
  std::vector<bool> written_;  // by index in variables_: a kernel writes it in place
  std::vector<Copy> copies_;
  std::vector<bool> used_copies_;  // by entry of the arena's copies
  std::vector<double> runtime_;
  std::vector<Tensor> constants_;
  std::vector<Step> steps_;
  std::size_t gates_at_ = 0;  // index of the step before which the gates are evaluated
  std::vector<Commit> commits_;
  std::vector<Gate> gates_;
  std::vector<int> closed_;                          // groups with a closed gate in the last run
  std::vector<int> left_out_;                        // groups whose condition was false in the last run
  std::vector<std::pair<int, Overflow>> overflows_;  // by group
  std::vector<std::size_t> outputs_;
  Values output_values_;
  std::optional<NonFiniteOutput> non_finite_output_;
  Profile profile_;
  std::vector<const void*> input_addresses_;
};
}  // namespace detail

}  // namespace mezzo
