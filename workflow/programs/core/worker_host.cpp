#include "core/worker_host.hpp"

#include "core/cores.hpp"

namespace weft::host {
namespace {

constexpr int pauses_before_yield = 64;
constexpr std::chrono::microseconds yields_before_block{50};

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

bool Backoff::again() {
  if (pauses_ < pauses_before_yield) {
    ++pauses_;
    pause();
    return true;
  }
  const auto now = std::chrono::steady_clock::now();
  if (pauses_ == pauses_before_yield) {
    ++pauses_;
    give_up_ = now + yields_before_block;
  }
  if (now >= give_up_) return false;
  std::this_thread::yield();
  return true;
}

void Counter::raise(std::uint64_t value) {
  value_.store(value);
  if (sleepers_.load() == 0) return;
  {
    std::lock_guard lock(mutex_);
  }  // a sleeper is either before its look at the value or already waiting
  raised_.notify_all();
}

void Counter::wait(std::uint64_t target) {
  Backoff backoff;
  while (value() < target) {
    if (backoff.again()) continue;
    ++sleepers_;
    {
      std::unique_lock lock(mutex_);
      raised_.wait(lock, [&] { return value_.load() >= target; });
    }
    --sleepers_;
  }
}

Worker::Worker(std::vector<int> cores) : cores_(std::move(cores)), thread_([this] { loop(); }) {}

Worker::~Worker() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    pending_ = true;
  }
  arrived_.notify_one();
  thread_.join();
}

void Worker::push(Task task) {
  {
    std::lock_guard lock(mutex_);
    if (keeping_) {
      kept_.push_back(std::move(task));
      return;
    }
    incoming_.push_back(std::move(task));
    ++pushed_;
    pending_.store(true, std::memory_order_release);
  }
  arrived_.notify_one();
}

void Worker::keep() {
  std::lock_guard lock(mutex_);
  keeping_ = true;
}

std::vector<Task> Worker::take_kept() {
  std::lock_guard lock(mutex_);
  keeping_ = false;
  return std::exchange(kept_, {});
}

void Worker::drain() {
  std::uint64_t target;
  {
    std::lock_guard lock(mutex_);
    target = pushed_;
  }
  finished_.wait(target);
}

std::exception_ptr Worker::take_failure() {
  if (!failed_) return nullptr;
  std::lock_guard lock(mutex_);
  failed_ = false;
  return std::exchange(failure_, nullptr);
}

bool Worker::take(std::vector<Task>& tasks) {
  Backoff backoff;
  while (!pending_.load(std::memory_order_acquire) && backoff.again()) {
  }
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return pending_.load(); });
  tasks.swap(incoming_);
  pending_ = stopping_;
  return !tasks.empty();
}

void Worker::loop() {
  try {
    pin_this_thread(cores_);
  } catch (...) {
    std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    failed_ = true;
  }
  std::vector<Task> tasks;
  std::uint64_t finished = 0;
  while (take(tasks)) {
    for (Task& task : tasks) {
      if (failed_ && task.kind() == Task::Kind::work) continue;
      try {
        task.run();
      } catch (...) {
        std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
        failed_ = true;
      }
    }
    finished += tasks.size();
    tasks.clear();
    finished_.raise(finished);
  }
}

}  // namespace weft::host
