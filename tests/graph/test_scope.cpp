#include <boost/test/unit_test.hpp>

#include <thread>

#include <mezzo/graph/scope.hpp>

using namespace mezzo;

namespace {

detail::Frame frame(const std::string& kind, const std::string& entry, const std::string& name = "",
                    const Policy& policy = {}, bool trainable = true) {
  return {std::make_shared<detail::ScopeInfo>(detail::ScopeInfo{kind, name, policy, trainable}), entry};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(scope)

BOOST_AUTO_TEST_CASE(paths_are_entries_from_the_root) {
  BOOST_TEST(detail::current_path().empty());
  const detail::Scope root(frame("Model", ""));
  BOOST_TEST(detail::current_path().empty());
  {
    const detail::Scope backbone(frame("Sequential", "backbone"));
    const detail::Scope conv(frame("Conv2D", "conv2d_1", "stem"));
    BOOST_TEST(detail::current_path() == "backbone/conv2d_1");
    BOOST_TEST(detail::current_frames().size() == 3U);
  }
  BOOST_TEST(detail::current_path().empty());
  BOOST_TEST(detail::current_frames().size() == 1U);
}

BOOST_AUTO_TEST_CASE(several_frames_come_and_go_at_once) {
  const detail::Frames frames{frame("Sequential", "a"), frame("Dense", "b")};
  {
    const detail::Scope scope(frames);
    BOOST_TEST(detail::current_path() == "a/b");
  }
  BOOST_TEST(detail::current_frames().empty());
}

BOOST_AUTO_TEST_CASE(labels_prefer_the_layers_own_name) {
  BOOST_TEST(detail::current_label("matmul") == "[matmul]");
  const detail::Scope named(frame("Conv2D", "conv2d_1", "stem"));
  BOOST_TEST(detail::current_label("matmul") == "[Conv2D \"stem\"]");
  {
    const detail::Scope entry(frame("Dense", "dense_2"));
    BOOST_TEST(detail::current_label("matmul") == "[Dense \"dense_2\"]");
    const detail::Scope nameless(frame("Model", ""));
    BOOST_TEST(detail::current_label("matmul") == "[Model]");
  }
  BOOST_TEST(detail::current_label("matmul") == "[Conv2D \"stem\"]");
}

BOOST_AUTO_TEST_CASE(the_nearest_policy_holds) {
  BOOST_TEST(detail::current_policy().name() == "float32");
  const detail::PolicyScope trainer("mixed_float16");
  BOOST_TEST(detail::current_policy().name() == "mixed_float16");
  {
    const detail::PolicyScope inherits{Policy()};
    BOOST_TEST(detail::current_policy().name() == "mixed_float16");
    const detail::Scope container(frame("Sequential", "", "", "mixed_bfloat16"));
    BOOST_TEST(detail::current_policy().name() == "mixed_bfloat16");
    const detail::Scope silent(frame("Dense", "dense"));
    BOOST_TEST(detail::current_policy().name() == "mixed_bfloat16");
    {
      const detail::Scope logits(frame("Dense", "logits", "", "float32"));
      BOOST_TEST(detail::current_policy().name() == "float32");
    }
    const detail::PolicyScope inner("float64");  // below every layer's
    BOOST_TEST(detail::current_policy().name() == "mixed_bfloat16");
  }
  BOOST_TEST(detail::current_policy().name() == "mixed_float16");
}

BOOST_AUTO_TEST_CASE(the_global_policy_is_the_last_resort) {
  set_dtype_policy("bfloat16");
  BOOST_TEST(detail::current_policy().name() == "bfloat16");
  {
    const detail::PolicyScope trainer("float64");
    BOOST_TEST(detail::current_policy().name() == "float64");
  }
  set_dtype_policy(Policy());
  BOOST_TEST(detail::current_policy().name() == "float32");
}

BOOST_AUTO_TEST_CASE(one_frozen_layer_freezes_what_is_inside) {
  BOOST_TEST(detail::current_trainable());
  const detail::Scope frozen(frame("Sequential", "", "", {}, false));
  const detail::Scope inner(frame("Dense", "dense"));
  BOOST_TEST(!detail::current_trainable());
}

BOOST_AUTO_TEST_CASE(an_origin_stands_for_the_running_layers) {
  const detail::Scope running(frame("Model", "model"));
  const std::string where = "[Dense \"head\"]", path = "net/head", other = "[Other]";
  {
    const detail::OriginScope origin(where, path);
    BOOST_TEST(detail::current_label("cast") == where);
    BOOST_TEST(detail::current_path() == path);
    {
      const detail::OriginScope inner(other, path);
      BOOST_TEST(detail::current_label("cast") == other);
    }
    BOOST_TEST(detail::current_label("cast") == where);
  }
  BOOST_TEST(detail::current_path() == "model");
}

BOOST_AUTO_TEST_CASE(a_fresh_scope_forgets_the_layers_around) {
  const detail::Scope running(frame("Model", "model", "", "float64", false));
  {
    const detail::FreshScope fresh;
    BOOST_TEST(detail::current_frames().empty());
    BOOST_TEST(detail::current_policy().name() == "float32");
    BOOST_TEST(detail::current_trainable());
  }
  BOOST_TEST(detail::current_path() == "model");
  BOOST_TEST(detail::current_policy().name() == "float64");
}

BOOST_AUTO_TEST_CASE(each_thread_has_its_own) {
  const detail::Scope running(frame("Model", "model", "", "float64"));
  const detail::PolicyScope trainer("bfloat16");
  std::string path = "?", policy = "?";
  std::thread other([&] {
    path = detail::current_path();
    policy = detail::current_policy().name();
  });
  other.join();
  BOOST_TEST(path.empty());
  BOOST_TEST(policy == "float32");
}

BOOST_AUTO_TEST_SUITE_END()
