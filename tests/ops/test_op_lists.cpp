#include <boost/test/unit_test.hpp>

#include <sys/stat.h>

#include <mezzo/core/error.hpp>
#include <mezzo/ops/op_lists.hpp>
#include <mezzo/precision/policy.hpp>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Names = std::vector<std::string>;

std::string file_of(const Folder& folder, const std::string& text) {
  return folder.write("ops.txt", {text.begin(), text.end()});
}

const detail::CastRule any{};
const detail::CastRule follow{{Cast::promote}, false, true};
const detail::CastRule norm{{Cast::compute, Cast::keep}, true, true};

std::string dtypes(const detail::CastRule& rule, detail::Listing listing, const std::vector<DType>& in) {
  std::vector<detail::Operand> operands;
  for (const DType dtype : in) operands.push_back({dtype, true, false});
  std::string text;
  for (const DType dtype : autocast(rule, operands, listing, DType::bfloat16)) {
    text += (text.empty() ? "" : " ") + std::string(dtype_name(dtype));
  }
  return text;
}

constexpr DType f32 = DType::float32, bf16 = DType::bfloat16, f64 = DType::float64, i64 = DType::int64;

}  // namespace

BOOST_AUTO_TEST_SUITE(op_lists)

BOOST_AUTO_TEST_CASE(the_default_lists_are_hmps) {
  const OpLists lists;
  BOOST_TEST((lists.dtype() == DType::bfloat16));
  for (const char* op : {"matmul", "conv2d", "batch_norm", "layer_norm", "dropout", "relu", "transpose"}) {
    BOOST_TEST((lists.listing(op) == detail::Listing::lower), op);
  }
  for (const char* op : {"sparse_categorical_crossentropy", "divide", "gather", "log", "softmax"}) {
    BOOST_TEST((lists.listing(op) == detail::Listing::float32), op);
  }
  for (const char* op : {"add", "gelu", "bias_add", "mean", "cast"}) {
    BOOST_TEST((lists.listing(op) == detail::Listing::unlisted), op);
  }
}

BOOST_AUTO_TEST_CASE(opt_level_o2_has_products_alone_in_low_precision) {
  const OpLists lists({.opt_level = "O2"});
  BOOST_TEST((lists.listing("conv2d") == detail::Listing::lower));
  BOOST_TEST((lists.listing("matmul") == detail::Listing::lower));
  for (const char* op : {"relu", "batch_norm", "add"}) BOOST_TEST((lists.listing(op) == detail::Listing::float32), op);
  check_throws<ValueError>(
      "[OpLists] opt_level \"O2\" must be given without lists (matrix products and convolutions are in bfloat16, "
      "everything else in float32); got a list",
      [] { OpLists({.opt_level = "O2", .lower = Names{"add"}}); });
  check_throws<ValueError>("[OpLists] opt_level must be \"O1\" or \"O2\"; got \"O3\"",
                           [] { OpLists({.opt_level = "O3"}); });
}

BOOST_AUTO_TEST_CASE(torch_amps_lists) {
  const OpLists lists = OpLists::torch_amp(DType::float16);
  BOOST_TEST((lists.dtype() == DType::float16));
  for (const char* op : {"matmul", "conv2d", "scaled_dot_product_attention"}) {
    BOOST_TEST((lists.listing(op) == detail::Listing::lower), op);
  }
  BOOST_TEST((lists.listing("sparse_categorical_crossentropy") == detail::Listing::float32));
  for (const char* op : {"softmax", "layer_norm", "sum", "mean", "exp", "gelu", "max_pool2d", "concat"}) {
    BOOST_TEST((lists.listing(op) == detail::Listing::unlisted), op);
  }
}

// HMP's file: one op a line.
BOOST_AUTO_TEST_CASE(files_hold_an_op_a_line_and_comments) {
  const Folder folder;
  const OpLists lists({.lower_file = file_of(folder, "# products\n  linear  \n\ngelu # and this\r\ncdist\nadd")});
  for (const char* op : {"matmul", "gelu", "add"}) BOOST_TEST((lists.listing(op) == detail::Listing::lower), op);
  BOOST_TEST((lists.listing("conv2d") == detail::Listing::unlisted));
  BOOST_TEST((lists.listing("softmax") == detail::Listing::float32));  // the other list is still the default
}

BOOST_AUTO_TEST_CASE(unknown_names_are_refused_with_the_nearest) {
  const Folder folder;
  const std::string path = file_of(folder, "relu\n# all\nlayernorm\n");
  check_throws<NameError>(
      "[OpLists] \"" + path + "\" line 3: unknown op \"layernorm\"; nearest valid names: layer_norm, batch_norm, norm",
      [&] { OpLists({.float32_file = path}); });
  check_throws<NameError>("[OpLists] lower: unknown op \"conv2\"; nearest valid names: conv2d, conv1d, conv3d",
                          [] { OpLists({.lower = Names{"conv2"}}); });
}

BOOST_AUTO_TEST_CASE(other_files_are_refused_at_once) {
  const Folder folder;
  const auto refuse = [](const std::string& path, const std::string& text) {
    check_throws<FileError>("[read_file] \"" + path + "\": " + text, [&] { OpLists({.lower_file = path}); });
  };
  refuse(folder.path("none"), "no such file or directory");
  refuse(folder.path(), "must be a regular file; got another kind of file");
  refuse("/dev/zero", "must be a regular file; got another kind of file");
  BOOST_REQUIRE(::mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  refuse(folder.path("pipe"), "must be a regular file; got another kind of file");
  const std::string large(20'000'000, 'a');  // NOLINT(bugprone-string-constructor)
  refuse(file_of(folder, large), "must have at most 1048576 bytes; got 20000000");
  const std::string path = file_of(folder, std::string(1'000'000, 'a'));
  check_throws<NameError>("[OpLists] \"" + path +
                              "\" line 1: the name of an op must have at most 64 characters; got 1000000, which begin "
                              "with \"" +
                              std::string(64, 'a') + "\"",
                          [&] { OpLists({.lower_file = path}); });
}

BOOST_AUTO_TEST_CASE(contradictions_are_refused) {
  check_throws<ValueError>("[OpLists] each op must be on one list; got \"matmul\" on both",
                           [] { OpLists({.lower = Names{"mm"}, .float32 = Names{"linear"}}); });
  check_throws<ValueError>("[OpLists] at most one of lower and lower_file may be given; got both",
                           [] { OpLists({.lower = Names{}, .lower_file = "x"}); });
  check_throws<ValueError>("[OpLists] dtype must be bfloat16 or float16; got float32",
                           [] { OpLists({.dtype = DType::float32}); });
}

BOOST_AUTO_TEST_CASE(listed_ops_take_floats_in_their_lists_dtype) {
  BOOST_TEST(dtypes(any, detail::Listing::lower, {f32, f32}) == "bfloat16 bfloat16");
  BOOST_TEST(dtypes(any, detail::Listing::float32, {bf16, bf16}) == "float32 float32");
  BOOST_TEST(dtypes(any, detail::Listing::lower, {i64}) == "int64");
  BOOST_TEST(dtypes(any, detail::Listing::lower, {f64}) == "float64");
  BOOST_TEST(dtypes(norm, detail::Listing::lower, {f32, f32}) ==
             "bfloat16 float32");  // norms cast their first input alone
}

BOOST_AUTO_TEST_CASE(unlisted_ops_follow_their_first_input_or_the_widest) {
  BOOST_TEST(dtypes(follow, detail::Listing::unlisted, {bf16, f32}) == "bfloat16 bfloat16");
  BOOST_TEST(dtypes(follow, detail::Listing::unlisted, {f32, bf16}) == "float32 float32");
  BOOST_TEST(dtypes(any, detail::Listing::unlisted, {bf16, f32, bf16}) == "float32 float32 float32");
  BOOST_TEST(dtypes(any, detail::Listing::unlisted, {bf16}) == "bfloat16");
}

// The lists take precedence over the rules of several inputs.
BOOST_AUTO_TEST_CASE(lists_come_before_the_rules) {
  BOOST_TEST(dtypes(any, detail::Listing::lower, {bf16, f32}) == "bfloat16 bfloat16");
  BOOST_TEST(dtypes(follow, detail::Listing::float32, {bf16, f32}) == "float32 float32");
}

BOOST_AUTO_TEST_CASE(they_are_a_policy) {
  const Policy policy = OpLists();
  BOOST_TEST(policy.by_op() != nullptr);
  BOOST_TEST((policy.variable_dtype() == DType::float32 && policy.compute_dtype() == DType::float32));
  BOOST_TEST((policy == Policy(OpLists())));
  BOOST_TEST((policy != Policy(OpLists({.dtype = DType::float16}))));
  BOOST_TEST((policy != Policy(OpLists::torch_amp())));
  BOOST_TEST(Precision(OpLists()).policy().name() == policy.name());
}

BOOST_AUTO_TEST_CASE(casts_are_told_once) {
  const CapturedOutput output;
  const OpLists lists({.verbose = true});
  const OpLists copy = lists;
  for (const OpLists& each : {lists, copy})
    each.report_cast("conv2d", "backbone/conv1", DType::float32, DType::bfloat16);
  lists.report_cast("add", "", DType::bfloat16, DType::float32);
  BOOST_TEST(output.text() ==
             "[OpLists] conv2d in backbone/conv1: float32 -> bfloat16\n[OpLists] add: bfloat16 -> float32\n");
}

BOOST_AUTO_TEST_SUITE_END()
