#include "lathe/lower/gpu/lower.h"

#include <utility>

#include "lathe/lower/gpu/strategies.h"
#include "lathe/lower/lower.h"

namespace lathe::lower::gpu {

namespace {

class ThreadStrategies final : public Strategies {
 public:
  explicit ThreadStrategies(const SchedulingOptions& scheduling) : scheduling_(scheduling) {}

  void contract(Contraction& contraction) override { lower_contract(contraction, scheduling_); }
  void reduce(Nest& nest, const Group& group, RowSpace space) override {
    lower_rows(nest, group, std::move(space), scheduling_.device);
  }
  void scan(Nest& nest, const Group& group) override { gpu::lower_scan(nest, group); }
  void sort(SortSpace& space) override { lower_sort(space); }

 private:
  SchedulingOptions scheduling_;
};

}  // namespace

loop::Module lower(const graph::Program& program, const Device& device, const Schedules& schedules,
                   std::vector<ScheduledContraction>* scheduled) {
  ThreadStrategies threads({schedules, scheduled, device});
  return lower::lower(program, threads);
}

}  // namespace lathe::lower::gpu
