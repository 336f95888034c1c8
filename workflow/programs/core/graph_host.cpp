// Host backend: graphs, a batch of tasks that the worker takes as one.
#include <memory>

#include "core/device_detail.hpp"

namespace weft {
namespace {

/// Has a worker keep its tasks instead of running them, until ended or gone.
class Capture {
 public:
  explicit Capture(host::Worker& worker) : worker_(worker) { worker_.keep(); }
  ~Capture() { static_cast<void>(worker_.take_kept()); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  std::vector<host::Task> end() { return worker_.take_kept(); }

 private:
  host::Worker& worker_;
};

}  // namespace

struct Graph::Implementation {
  host::Worker* worker;
  std::shared_ptr<std::vector<host::Task>> tasks;  ///< shared with launches that have not run yet
};

Graph::Graph(Stream& stream, const std::function<void()>& enqueue) {
  host::Worker& worker = stream.implementation().worker;
  Capture capture(worker);
  enqueue();
  implementation_ = std::make_unique<Implementation>(
      Implementation{&worker, std::make_shared<std::vector<host::Task>>(capture.end())});
}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

void Graph::launch() {
  auto batch = [tasks = implementation_->tasks] {
    for (host::Task& task : *tasks)
      task.run();
  };
  implementation_->worker->push(host::Task(host::Task::Kind::work, std::move(batch)));
}

}  // namespace weft
