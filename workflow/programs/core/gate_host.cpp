// Host backend: the start gate. The workers wait asleep; once woken they wait for each other awake, so that
// none starts earlier by the time that the kernel takes to wake the others.
#include <memory>

#include "core/device_detail.hpp"
#include "core/error.hpp"

namespace weft {
namespace {

constexpr std::chrono::milliseconds wait_for_arrival{50};

struct Line {
  std::mutex mutex;
  std::condition_variable changed;
  std::chrono::duration<double> timeout{0};
  bool open = false, timed_out = false;
  int held = 0, waiting = 0;
  int starters = 0;  ///< how many waited when the gate opened
  std::atomic<int> awake{0};

  void pass() {
    std::unique_lock lock(mutex);
    if (open) return;
    ++waiting;
    changed.notify_all();
    if (!changed.wait_for(lock, timeout, [this] { return open; })) {
      --waiting;
      timed_out = true;
      return;
    }
    lock.unlock();
    ++awake;
    host::Backoff backoff;
    while (awake < starters)
      if (!backoff.again()) std::this_thread::yield();
  }

  void open_for_all() {
    std::unique_lock lock(mutex);
    if (open) return;
    changed.wait_for(lock, wait_for_arrival, [this] { return waiting == held || timed_out; });
    open = true;
    starters = waiting;
    changed.notify_all();
  }
};

}  // namespace

struct Gate::Implementation {
  std::shared_ptr<Line> line = std::make_shared<Line>();
};

Gate::Gate(double timeout_s) : implementation_(std::make_unique<Implementation>()) {
  implementation_->line->timeout = std::chrono::duration<double>(timeout_s);
}

Gate::~Gate() { implementation_->line->open_for_all(); }

void Gate::hold(Stream& stream) {
  const std::shared_ptr<Line>& line = implementation_->line;
  {
    std::lock_guard lock(line->mutex);
    ++line->held;
  }
  stream.implementation().worker.push(host::Task(host::Task::Kind::mark, [line] { line->pass(); }));
}

void Gate::open() {
  implementation_->line->open_for_all();
  check();
}

void Gate::check() const {
  const Line& line = *implementation_->line;
  std::lock_guard lock(implementation_->line->mutex);
  if (!line.timed_out) return;
  throw CallError("Weft", "Gate", detail::gate_timeout_words(line.timeout.count()), __FILE__, __LINE__);
}

std::size_t gate_depth() { return 1024; }

}  // namespace weft
