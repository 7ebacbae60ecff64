#include "lathe/lower/cpu/lower.h"

#include <utility>

#include "lathe/lower/cpu/lanes.h"
#include "lathe/lower/cpu/strategies.h"
#include "lathe/lower/lower.h"

namespace lathe::lower::cpu {

namespace {

class Lanes final : public Strategies {
 public:
  explicit Lanes(const SchedulingOptions& scheduling)
      : Strategies(kLanes), scheduling_(scheduling) {}

  void contract(Contraction& contraction) override { lower_contract(contraction, scheduling_); }
  void reduce(Nest& nest, const Group& group, RowSpace space) override {
    lower_reduce(nest, group, std::move(space));
  }
  void scan(Nest& nest, const Group& group) override { cpu::lower_scan(nest, group); }
  void sort(SortSpace& space) override { lower_sort(space); }

 private:
  SchedulingOptions scheduling_;
};

}  // namespace

loop::Module lower(const graph::Program& program, const Schedules& schedules,
                   std::vector<ScheduledContraction>* scheduled, VectorUnit unit, bool winograd) {
  Lanes lanes({schedules, scheduled, unit, winograd});
  return lower::lower(program, lanes);
}

}  // namespace lathe::lower::cpu
