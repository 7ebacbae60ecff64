#include <utility>

#include "lathe/lower/gpu/strategies.h"
#include "lathe/lower/scan.h"

namespace lathe::lower::gpu {

namespace {

// One fold after the other: each becomes a thread.
class ThreadScan final : public ScanLowering {
 public:
  using ScanLowering::ScanLowering;

  void run() {
    std::vector<loop::Stmt> body;
    for (const Segment& segment : split(extent(rows_loop()), 1)) {
      append(body, strip(segment, /*vector=*/false));
    }
    finish(std::move(body));
  }
};

}  // namespace

void lower_scan(Nest& nest, const Group& group) { ThreadScan(nest, group).run(); }

}  // namespace lathe::lower::gpu
