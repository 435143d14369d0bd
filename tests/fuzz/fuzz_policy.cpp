// Names of policies and precisions, and an entry of a PolicyMap.
#include <mezzo/core/error.hpp>
#include <mezzo/precision/policy.hpp>
#include <mezzo/precision/policy_map.hpp>

#include <stdexcept>

#include "fuzz.hpp"

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  const std::string text = text_of(bytes);
  try {
    const mezzo::PolicyMap map({.default_policy = "float32", .policies = {{text, "mixed_bfloat16"}}});
    map.name();
    map.at("block_1/attention/norm");
  } catch (const mezzo::Error&) {
  }
  try {
    mezzo::Precision precision(text);
    precision.policy();
  } catch (const mezzo::Error&) {
  }
  const mezzo::Policy policy(text);
  if (!text.empty() && mezzo::Policy(policy.name()) != policy) throw std::logic_error("the name is another policy's");
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  for (const char* text : {"mixed_bfloat16", "float64", "p=f32,c=bf16,o=f32", "params=half,compute=full", "bf16-mixed",
                           "(a|b)*/norm[0-9]{1,3}"}) {
    out.push_back(bytes_of(text));
  }
  return out;
}

const Target target("policy", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
