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
#include <mezzo/graph/trace.hpp>

namespace mezzo {

/// A compiled step: kernels in order, on addresses in one arena. run() allocates nothing and creates nothing.
class Plan {
 public:
  /// Chooses kernels and places buffers. The graph is one that the passes are done with.
  Plan(const Graph& graph, std::shared_ptr<Arena> arena);

  /// The runtime scalars that run() takes, in the order of its `runtime`.
  const std::vector<RuntimeKey>& runtime_keys() const { return runtime_keys_; }

  /// Specs of the arrays that run() takes.
  const std::vector<Spec>& inputs() const { return input_specs_; }

  /// Computes until nothing can fail any more and the gates are known, asks them, computes the rest and commits the
  /// updates whose gates are open. If a kernel or a gate with an error throws, no update has happened. `inputs` must
  /// match inputs() in shape and dtype. With `seek_overflow`, if a gate stays closed, it computes once more up to the
  /// gates, looking at every value on the way.
  void run(const std::vector<Tensor>& inputs, const std::vector<double>& runtime, bool seek_overflow = false);

  /// Whether the last run committed the updates of a group.
  bool committed(int group) const;

  /// What closed a group's gate in the last run, where that sought it; none if it was no value that isn't finite.
  std::optional<Overflow> overflow(int group) const;

  const std::vector<std::string>& output_names() const { return output_names_; }

  /// An output of the last run: the number in it, or a copy of its numbers.
  double scalar(std::size_t i) const;
  Tensor output(std::size_t i) const;

  /// What explain() shows of a kernel.
  struct Row {
    std::string op, path, kernel, detail, outputs;
    std::vector<std::string> declined;
    std::size_t bytes = 0;  ///< read and written
    double operations = 0;  ///< multiplications and additions of products and convolutions
  };
  std::vector<Row> rows() const;
  std::size_t arena_bytes() const { return arena_bytes_; }

  /// What a run does beside its kernels.
  enum class Chore { bind, refresh_copies, ask_gates, commit };
  static constexpr std::size_t chores = 4;

  /// Where the time goes: laps are the kernels, as rows() has them, then the chores in their order.
  const Profile& profile() const { return profile_; }

  /// Tells what the last run took with the caller's own preparations.
  void count_wall(Profile::Clock::duration time) { profile_.count_wall(time); }

 private:
  friend class PlanBuilder;
  friend class UpdateSchedule;
  friend class BufferPlacement;

  /// Where a buffer's bytes are.
  struct Buffer {
    enum class Home { arena, input, variable, copy, runtime, constant } home = Home::arena;
    std::size_t index = 0;  ///< offset in the arena, or which input, variable, copy, number, constant
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
    bool updates = false;  ///< writes into variables; skipped where the group's gate is closed
    int group = -1;
    bool copies = false;  ///< moves what `node` gave to where it stays
  };
  struct Copy {
    std::shared_ptr<VariableState> variable;
    DType dtype = DType::float32;
    std::unique_ptr<Kernel> refresh;
    bool written = false;  ///< by the optimizer's pass, together with the variable
  };
  struct Commit {
    std::shared_ptr<VariableState> variable;
    std::size_t buffer = 0;
    int group = -1;
    bool in_place = false;  ///< the kernel wrote to the variable itself
  };
  struct Gate {
    std::size_t buffer = 0;
    int group = -1;
    Graph::OnFailure on_failure = Graph::OnFailure::skip_update;
    std::string error;
    Value ok;
  };

  void bind(const std::vector<Tensor>& inputs, const std::vector<double>& runtime);
  void refresh_copies();
  void run_steps(std::size_t begin, std::size_t end);
  void ask_gates();
  bool opened(const Gate& gate) const { return *static_cast<const bool*>(buffers_[gate.buffer].address); }
  void seek_overflow();
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
  std::vector<bool> written_;  // of variables_: by a kernel, in place
  std::vector<Copy> copies_;
  std::vector<double> runtime_;
  std::vector<Tensor> constants_;
  std::vector<Step> steps_;
  std::size_t gates_at_ = 0;  // the step before which gates are asked
  std::vector<Commit> commits_;
  std::vector<Gate> gates_;
  std::vector<int> closed_;                          // groups whose gates did not open in the last run
  std::vector<std::pair<int, Overflow>> overflows_;  // by group
  std::vector<std::size_t> outputs_;
  Profile profile_;
};

}  // namespace mezzo
