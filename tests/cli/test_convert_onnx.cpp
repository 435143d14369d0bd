// Options of `mezzo convert` for ONNX files.
#include <boost/test/unit_test.hpp>

#include <string>

#include <mezzo/layers/core/dense.hpp>
#include <mezzo/nn/input.hpp>
#include <mezzo/training/model/sequential.hpp>

#include "cli/work.hpp"

using mezzo_tests::CommandRun;
using mezzo_tests::has;
using mezzo_tests::Work;

namespace {

/// A folder with a model of sequences.
struct Sequences : Work {
  Sequences() {
    mezzo::Sequential model({mezzo::Input({6, 2}), mezzo::Dense(3)}, {.dtype = "mixed_bfloat16"});
    model.save(folder.path("m.mezzo"));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(convert_onnx)

BOOST_AUTO_TEST_CASE(options_are_those_of_export_onnx) {
  const Sequences work;
  work.succeed(
      "convert m.mezzo a.onnx --opset 18 --batch 4 --metadata author=me --metadata note=a=b --precision float32");
  const CommandRun fixed = work.succeed("inspect a.onnx");
  for (const char* part : {"opset 18\n", "float32 (4, 6, 2)\n", "author = me\n", "note = a=b\n"}) {
    BOOST_TEST(has(fixed.text, part), part << " in " << fixed.text);
  }
  BOOST_TEST(!has(fixed.text, " Cast\n"), fixed.text);
  work.succeed("convert --dynamic_axes input.1=positions m.mezzo b.onnx");
  const CommandRun open = work.succeed("inspect b.onnx");
  BOOST_TEST(has(open.text, "float32 (batch, positions, 2)\n"), open.text);
  BOOST_TEST(has(open.text, " Cast\n"), open.text);
}

BOOST_AUTO_TEST_CASE(wrong_options_are_wrong_use) {
  const Sequences work;
  work.refuse("convert m.mezzo a.onnx --opset 3", 2, "--opset: Value 3 not in range");
  work.refuse("convert m.mezzo a.onnx --batch 0", 2, "--batch must be \"dynamic\" or a number, 1 or more; got \"0\"");
  work.refuse("convert m.mezzo a.onnx --batch dynamc", 2, "got \"dynamc\"");
  work.refuse("convert m.mezzo a.onnx --precision float16", 2, "float16 not in {float32}");
  for (const char* axes : {"input", "input=n", ".1=n", "input.x=n", "input.1=", "input.999=n"}) {
    work.refuse(std::string("convert m.mezzo a.onnx --dynamic_axes ") + axes, 2,
                "--dynamic_axes must be INPUT.AXIS=NAME, such as input.1=positions; got \"" + std::string(axes));
  }
  work.refuse("convert m.mezzo a.onnx --metadata author", 2, "--metadata must be KEY=TEXT; got \"author\"");
  work.refuse("convert m.mezzo a.onnx --dynamic_axes other.1=n", 1, "unknown input in dynamic_axes \"other\"");
  work.refuse("convert m.mezzo a.onnx --dynamic_axes input.1=n --dynamic_axes input.1=m", 2,
              "--dynamic_axes must name an axis once; got \"input.1\" twice");
  work.refuse("convert m.mezzo a.onnx --metadata author=me --metadata author=you", 2,
              "--metadata must name a key once; got \"author\" twice");
  work.refuse("convert m.mezzo a.keras --opset 18", 2, "--opset is for .onnx files; got \"a.keras\"");
  work.refuse("convert m.mezzo a.safetensors --metadata a=b", 2, "--metadata is for .onnx files");
  BOOST_TEST(!work.exists("a.onnx"));
}

BOOST_AUTO_TEST_SUITE_END()
