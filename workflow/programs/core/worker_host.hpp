// The host backend's engine: a pinned thread that runs tasks in order.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::host {

/// Waiting in three steps: pause, so that a short wait costs nothing; yield, so that a thread on the same
/// core can run; and then false: the caller blocks.
class Backoff {
 public:
  bool again();

 private:
  int pauses_ = 0;
  std::chrono::steady_clock::time_point give_up_{};
};

/// A number that only grows, and can be waited for.
class Counter {
 public:
  std::uint64_t value() const { return value_.load(std::memory_order_acquire); }
  void raise(std::uint64_t value);
  void wait(std::uint64_t target);

 private:
  std::atomic<std::uint64_t> value_{0};
  std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable raised_;
};

/// A callable kept in place, so that the queue needs no allocation per task.
class Task {
 public:
  /// Tasks other than work (events, gates) run even after an earlier task failed: others may wait for them.
  enum class Kind { work, mark };

  template <class Body>
  Task(Kind kind, Body body) : operations_(&operations_of<Body>), kind_(kind) {
    static_assert(sizeof(Body) <= capacity, "a kernel's functor may hold at most 88 bytes");
    static_assert(std::is_nothrow_move_constructible_v<Body>);
    new (body_) Body(std::move(body));
  }
  Task(Task&& other) noexcept : operations_(other.operations_), kind_(other.kind_) {
    operations_->move(other.body_, body_);
  }
  Task& operator=(Task&&) = delete;
  ~Task() { operations_->destroy(body_); }

  void run() { operations_->run(body_); }
  Kind kind() const { return kind_; }

 private:
  static constexpr std::size_t capacity = 96;
  struct Operations {
    void (*run)(void*);
    void (*move)(void* from, void* to) noexcept;
    void (*destroy)(void*) noexcept;
  };
  template <class Body>
  static constexpr Operations operations_of{
      [](void* body) { (*static_cast<Body*>(body))(); },
      [](void* from, void* to) noexcept { new (to) Body(std::move(*static_cast<Body*>(from))); },
      [](void* body) noexcept { static_cast<Body*>(body)->~Body(); }};

  alignas(std::max_align_t) std::byte body_[capacity];
  const Operations* operations_;
  Kind kind_;
};

/// Runs tasks in the order given, on its cores. After a task threw, later work is dropped until the failure
/// is taken.
class Worker {
 public:
  explicit Worker(std::vector<int> cores);
  /// Finishes the queue first.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void push(Task task);
  /// Keeps what is pushed from now on instead of running it.
  void keep();
  /// Runs what is pushed from now on again; returns what was kept.
  std::vector<Task> take_kept();
  /// Waits until everything pushed so far has run.
  void drain();
  /// The first exception since the last call, or null.
  std::exception_ptr take_failure();

 private:
  void loop();
  bool take(std::vector<Task>& tasks);

  std::vector<int> cores_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Task> incoming_;
  std::uint64_t pushed_ = 0;
  bool stopping_ = false, keeping_ = false;
  std::vector<Task> kept_;
  std::exception_ptr failure_;
  std::atomic<bool> pending_{false}, failed_{false};
  Counter finished_;
  std::thread thread_;
};

}  // namespace weft::host
