#include <mezzo/training/module/callback.hpp>

#include <utility>

#include <mezzo/core/fail.hpp>

namespace mezzo {

Callback::Callback() : self_(std::make_shared<Callback*>(this)) {}
Callback::Callback(const Callback& other) : MoveChecked(other), self_(std::make_shared<Callback*>(this)) {}
Callback::Callback(Callback&& other) noexcept
    : MoveChecked(std::move(other)), self_(std::make_shared<Callback*>(this)) {}
Callback& Callback::operator=(const Callback& other) {
  MoveChecked::operator=(other);
  return *this;
}
Callback& Callback::operator=(Callback&& other) noexcept {
  MoveChecked::operator=(std::move(other));
  return *this;
}
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
  const auto referred = referred_.lock();
  if (!owned_ && !referred) {
    fail<ValueError>("[Callback]", "callbacks must exist during the call; got one that was destroyed, or an empty one");
  }
  Callback& callback = owned_ ? *owned_ : **referred;
  callback.check_not_moved();
  return callback;
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
