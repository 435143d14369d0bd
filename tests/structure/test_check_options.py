import unittest

from check_options import findings_of, findings_of_ranks

STRUCT = """
struct ScaleOptions {
  double initial = 1;              ///< first value; of all elements
  Any<Regularizer> regularizer{};  ///< penalty
  std::string name{};
  Policy dtype{};
};
"""


def findings(body, before=""):
    function = "static void describe(Fields& fields, ScaleOptions& options) {" + body + "}\n"
    return findings_of([STRUCT, before + function])


class CheckOptions(unittest.TestCase):
    def test_accepts_an_option_in_a_helper(self):
        helper = 'static void describe_common(Fields& fields, Options& options) {\n  fields("i", options.initial);\n}\n'
        body = '\n  describe_common(fields, options);\n  fields("r", options.regularizer);\n'
        self.assertEqual(findings(body, helper), [])

    def test_finds_an_option_that_is_left_out(self):
        self.assertEqual(findings(' fields("initial", options.initial); '),
                         ["ScaleOptions: describe() leaves out regularizer"])

    def test_finds_an_unknown_struct(self):
        self.assertEqual(findings_of(["static void describe(Fields&, OtherOptions&) {}\n"]),
                         ["OtherOptions: described, but no struct of this name was found"])

    def test_finds_an_option_that_ranks_do_not_compare(self):
        options = """
struct TrainerOptions {
  int max_epochs = detail::from_environment("max_epochs").value_or(1);
  bool eager = false;
  Loggers logger{};
};
"""
        compare = "void compare_options(Communicator& ranks, const TrainerOptions& options) {\n  use(%s);\n}\n"
        self.assertEqual(findings_of_ranks([options, compare % "options.max_epochs"]), [])
        self.assertEqual(findings_of_ranks([options, compare % "options.eager"]),
                         ["TrainerOptions: compare_options() leaves out max_epochs"])


if __name__ == "__main__":
    unittest.main()
