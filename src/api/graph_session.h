// A program that is built operation by operation through the C interface: entries of graph::Builder
// and the operations by name.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/api/bodies.h"
#include "lathe/api/session.h"
#include "lathe/graph/binary.h"
#include "lathe/graph/builder.h"

namespace lathe::api {

// Values are numbered within their entry. The word streams of calls are documented in lathe.h.
// After an error the program is as it was, but for nodes that nothing uses.
class GraphSession {
 public:
  using Words = std::span<const double>;

  GraphSession() = default;
  // A program of one entry.
  explicit GraphSession(graph::Graph graph);
  explicit GraphSession(graph::Program program);
  // Adds operations and constants to a graph under construction elsewhere, and nothing else.
  explicit GraphSession(graph::Builder& borrowed) : borrowed_(&borrowed) {}

  // One entry, as graph/binary.h encodes it.
  static Result<GraphSession> decode(std::span<const uint8_t> bytes,
                                     std::span<const SharedBytes> constants);

  // The entry that all later calls add to.
  Status begin_entry(std::string_view name);

  Result<graph::Tensor> input(Words declaration);
  Result<graph::Tensor> state(Words declaration);
  // The data contains all elements, or one that fills the shape.
  Result<graph::Tensor> constant(Words type, SharedBytes data);
  Result<graph::Tensor> operation(Words words);
  Result<std::vector<graph::Tensor>> gradients(Words words);

  // What is added now is part of the body of a branch or loop.
  Status begin_body();
  // The number of the body that began last.
  Result<int32_t> end_body() { return bodies_.end(); }
  Result<std::vector<graph::Tensor>> cond(Words words);
  Result<std::vector<graph::Tensor>> while_loop(Words words);

  // The outputs of the only entry of another program, with these values as its inputs.
  Result<std::vector<graph::Tensor>> inlined(GraphSession& other, Words numbers);

  // The values of these numbers.
  Result<std::vector<graph::Tensor>> tensors(Words numbers);
  Status output(std::string_view name, int32_t value);
  Status update(int32_t state, int32_t value);

  // One segment of the entry, see graph/segment.h, as a separate program.
  Result<GraphSession> segment(Words words);

  // The entry of this index, optimized, as `decode` reads it.
  Result<graph::Encoded> encode(int32_t entry, bool keeps_float16) const;

  Result<Executable> compile(std::string_view json) const;
  // The same, and removes all entries: the memory of constants is freed once they are packed.
  Result<Executable> compile_and_release(std::string_view json);

  int32_t number_of(graph::Tensor tensor) { return bodies_.number_of(tensor); }
  Result<graph::Tensor> tensor(int32_t value);

 private:
  graph::Program program() const;
  Result<graph::Builder*> entry();
  Result<graph::Builder*> innermost();
  Status check_not_borrowed(std::string_view what) const;
  Result<graph::Tensor> checked(graph::Builder& builder, graph::Tensor tensor,
                                std::string_view what);

  std::vector<std::unique_ptr<graph::Builder>> entries_;
  graph::Builder* borrowed_ = nullptr;
  Bodies bodies_;
};

}  // namespace lathe::api
