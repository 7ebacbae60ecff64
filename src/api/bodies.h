// The nested bodies of branches and loops under construction.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "lathe/graph/builder.h"
#include "lathe/ops/control.h"

namespace lathe::api {

// Values of an entry are numbered from 1, those of bodies from -1 down. A body reads the values of
// what is around it: they become inputs of it when it does so first.
class Bodies {
 public:
  bool is_open() const { return !open_.empty(); }
  // What operations are added to: the innermost body, or the entry.
  graph::Builder& innermost(graph::Builder& entry) const;

  void begin();
  // Its number. Error: none is open.
  Result<int32_t> end();
  // Moves out a body that has ended. Errors: there is none of this number, or it ended elsewhere.
  Result<ops::Body> release(int32_t number, graph::Builder& entry);

  // Whether a gradient by `x` in the innermost body includes all paths from x to the loss: values
  // that are computed around the body are separate values there.
  bool covers_all_paths(graph::Value loss, graph::Value x, const graph::Builder& entry) const;

  int32_t number_of(graph::Tensor tensor);
  // As the innermost body sees it. Errors: there is none, or its body has ended.
  Result<graph::Tensor> find(int32_t number, graph::Builder& entry);

 private:
  struct Open {
    graph::Builder builder{"body"};
    std::vector<graph::Value> captures = {};  // of what is around it
    std::map<graph::Value, graph::Value> inputs = {};
  };
  struct Ended {
    graph::Graph graph;
    std::vector<graph::Value> captures;
    const graph::Builder* around;  // null: the entry
  };
  struct BodyValue {
    const graph::Builder* builder;
    graph::Value value;
  };

  std::vector<std::unique_ptr<Open>> open_;
  std::vector<std::optional<Ended>> ended_;  // until they are released
  std::vector<BodyValue> values_;            // of values in bodies
};

}  // namespace lathe::api
