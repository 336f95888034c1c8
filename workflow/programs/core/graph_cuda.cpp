// CUDA backend: graphs, captured from a stream.
#include "core/device_detail.hpp"
#include "core/error.hpp"

namespace weft {
namespace {

/// Has a stream keep its work instead of running it, until ended or gone.
class Capture {
 public:
  explicit Capture(Stream::Implementation& stream) : stream_(stream) {
    // Thread-local: what other threads allocate or wait for meanwhile is no concern of this graph.
    WEFT_CUDA(cudaStreamBeginCapture(stream.stream, cudaStreamCaptureModeThreadLocal));
    stream.capturing = true;
  }
  ~Capture() {
    if (!stream_.capturing) return;
    stream_.capturing = false;
    cudaGraph_t abandoned = nullptr;  // null when the capture was broken by what failed in it
    static_cast<void>(cudaStreamEndCapture(stream_.stream, &abandoned));
    static_cast<void>(cudaGetLastError());
    if (abandoned) WEFT_CUDA_REPORT(cudaGraphDestroy(abandoned));
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  cudaGraph_t end() {
    cudaGraph_t graph = nullptr;
    stream_.capturing = false;
    WEFT_CUDA(cudaStreamEndCapture(stream_.stream, &graph));
    return graph;
  }

 private:
  Stream::Implementation& stream_;
};

}  // namespace

struct Graph::Implementation {
  Implementation(Stream& stream, const std::function<void()>& enqueue)
      : device(stream.device()), stream(native(stream)) {
    const DeviceGuard guard(device);
    Capture capture(stream.implementation());
    enqueue();
    graph = capture.end();
    try {
      WEFT_CUDA(cudaGraphInstantiate(&executable, graph, 0));
      // Else the first launch would bring it to the device, and wait behind a gate while it does.
      WEFT_CUDA(cudaGraphUpload(executable, this->stream));
      WEFT_CUDA(cudaStreamSynchronize(this->stream));
    } catch (...) {
      destroy();
      throw;
    }
  }
  ~Implementation() { destroy(); }

  void destroy() noexcept {
    if (executable) WEFT_CUDA_REPORT(cudaGraphExecDestroy(executable));
    if (graph) WEFT_CUDA_REPORT(cudaGraphDestroy(graph));
  }

  int device;
  cudaStream_t stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
};

Graph::Graph(Stream& stream, const std::function<void()>& enqueue)
    : implementation_(std::make_unique<Implementation>(stream, enqueue)) {}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

void Graph::launch() {
  const DeviceGuard guard(implementation_->device);
  WEFT_CUDA(cudaGraphLaunch(implementation_->executable, implementation_->stream));
}

}  // namespace weft
