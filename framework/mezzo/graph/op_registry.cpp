#include <mezzo/graph/op_registry.hpp>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/fork.hpp>

namespace mezzo {
namespace {

Op leaf(const char* name) {
  Op op;
  op.name = name;
  return op;
}

/// Never destroyed: models in static variables may outlive any other static.
struct Registry {
  detail::ForkMutex mutex;
  const OpTable& (*library)() = nullptr;
  std::unordered_map<std::string, const Op*> by_name;  // leaves and ops of the library
  std::vector<std::unique_ptr<Op>> added;              // ops of user programs, also replaced ones
  OpTable users;                                       // ops of `added` that are not replaced
};

Registry& registry() {
  static auto* const one = new Registry;
  return *one;
}

const OpTable& leaves() {
  static const OpTable table{&constant_op(), &input_op(), &runtime_op(), &variable_op()};
  return table;
}

/// The caller holds the mutex.
void fill(Registry& all) {
  if (!all.by_name.empty() || all.library == nullptr) return;
  for (const OpTable* table : {&leaves(), &all.library()}) {
    for (const Op* op : *table) all.by_name.emplace(op->name, op);
  }
}

const Op* find(Registry& all, const std::string& name) {
  for (const Op* op : all.users) {
    if (op->name == name) return op;
  }
  const auto found = all.by_name.find(name);
  return found == all.by_name.end() ? nullptr : found->second;
}

}  // namespace

void register_op_table(const OpTable& (*table)()) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.library = table;
}

const Op& register_op(std::unique_ptr<Op> op) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  fill(all);
  if (all.by_name.count(op->name) != 0) {
    fail<NameError>("[custom_op]", "name must not be that of one of the library's ops; got \"{}\"", op->name);
  }
  const auto same = [&](const Op* other) { return other->name == op->name; };
  all.users.erase(std::remove_if(all.users.begin(), all.users.end(), same), all.users.end());
  all.users.push_back(op.get());
  all.added.push_back(std::move(op));
  return *all.users.back();
}

const Op& find_op(const std::string& name) {
  {
    Registry& all = registry();
    const std::lock_guard<std::mutex> lock(all.mutex);
    fill(all);
    if (const Op* op = find(all, name)) return *op;
  }
  std::vector<std::string> names;
  for (const Op* op : registered_ops()) names.push_back(op->name);
  fail_unknown("", "op", name, names);
}

OpTable registered_ops() {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  OpTable out = leaves();
  if (all.library != nullptr) out.insert(out.end(), all.library().begin(), all.library().end());
  out.insert(out.end(), all.users.begin(), all.users.end());
  return out;
}

const Op& cast_op() {
  static const Op& op = find_op("cast");
  return op;
}
const Op& join_master_op() {
  static const Op& op = find_op("join_master");
  return op;
}
const Op& split_master_op() {
  static const Op& op = find_op("split_master");
  return op;
}
const Op& dequantize_op() {
  static const Op& op = find_op("dequantize");
  return op;
}

const Op& constant_op() {
  static const Op op = leaf("constant");
  return op;
}
const Op& input_op() {
  static const Op op = leaf("input");
  return op;
}
const Op& runtime_op() {
  static const Op op = leaf("runtime");
  return op;
}
const Op& variable_op() {
  static const Op op = leaf("variable");
  return op;
}

}  // namespace mezzo
