#include <mezzo/training/module/callback.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo {

Callback::Callback() : self_(std::make_shared<Callback*>(this)) {}
Callback::Callback(const Callback&) : Callback() {}
Callback::Callback(Callback&&) noexcept : Callback() {}
Callback::~Callback() = default;

bool Callback::on_non_finite(std::int64_t, const std::string&) { return false; }

Session& Callback::session() const {
  Session* const session = session_;
  if (session == nullptr) {
    fail<ValueError>("[Callback]",
                     "a hook must run to use session() and model(); got a call outside of fit, evaluate "
                     "and predict");
  }
  return *session;
}

Callback& detail::CallbackHandle::get() const {
  if (owned_) return *owned_;
  const auto referred = referred_.lock();
  if (!referred) {
    fail<ValueError>("[Callback]", "callbacks must exist during the call; got one that was destroyed, or an empty one");
  }
  return **referred;
}

detail::CallbackSession::CallbackSession(Callback& callback, Session& session) : callback_(callback) {
  Session* none = nullptr;
  if (!callback.session_.compare_exchange_strong(none, &session)) {
    fail<ValueError>("[Callback]", "a callback must belong to one running call and be listed once; got one that {}",
                     none == &session ? "is listed twice" : "another call uses");
  }
}

detail::CallbackSession::~CallbackSession() { callback_.session_ = nullptr; }

}  // namespace mezzo
