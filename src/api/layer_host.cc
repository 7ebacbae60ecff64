#include "lathe/api/layer_host.h"

#include <utility>
#include <vector>

#include "lathe/api/objects.h"
#include "lathe/base/json_writer.h"
#include "lathe/network/host_layer.h"
#include "lathe/network/json_reader.h"

namespace lathe::api {
namespace {

using graph::Shape;
using graph::Tensor;
using network::HostTrace;
using network::ObjectReader;
using network::parse_json;

QueryHost& the_query() {
  static QueryHost query = nullptr;
  return query;
}

Result<Json> query_host(const std::string& question) {
  LATHE_ASSIGN_OR_RETURN(const std::string answer, the_query()(question));
  LATHE_ASSIGN_OR_RETURN(Json json, parse_json(answer));
  ObjectReader reader(json, "the answer of the layer's host");
  std::string error;
  reader("error", error);
  LATHE_TRY(reader.status());
  if (!error.empty()) return fail(std::move(error));
  return json;
}

Status read_weight(const Json& json, nn::Weight& weight) {
  ObjectReader reader(json, "weight");
  reader.require("name");
  reader("name", weight.name);
  reader.integers("shape", weight.shape);
  reader("initializer", weight.options.initializer);
  reader("trainable", weight.trainable);
  reader("regularizer", weight.options.regularizer);
  reader("constraint", weight.options.constraint);
  return reader.finish();
}

// 0 for a tensor that is not there.
std::vector<int32_t> numbers_of(std::span<const Tensor> tensors) {
  std::vector<int32_t> numbers;
  for (const Tensor& each : tensors) {
    numbers.push_back(each.builder == nullptr ? 0 : each.value.id + 1);
  }
  return numbers;
}

Status read(const Json& answer, GraphSession& session, HostTrace& traced) {
  ObjectReader reader(answer, "the answer of the layer's host");
  std::vector<int64_t> outputs;
  std::vector<std::pair<int64_t, int64_t>> updates;
  reader.integers("outputs", outputs);
  reader.pairs("updates", updates);
  LATHE_TRY(reader.finish());
  if (outputs.empty()) return fail("call must return a tensor, or an array of them");
  for (const int64_t number : outputs) {
    LATHE_ASSIGN_OR_RETURN(const Tensor value, session.tensor(static_cast<int32_t>(number)));
    traced.outputs.push_back(value);
  }
  for (const auto& [weight, number] : updates) {
    LATHE_ASSIGN_OR_RETURN(const Tensor value, session.tensor(static_cast<int32_t>(number)));
    traced.updates.emplace_back(static_cast<size_t>(weight), value);
  }
  return {};
}

class JsonHost final : public network::LayerHost {
 public:
  Result<std::vector<nn::Weight>> weights(int32_t id,
                                          std::span<const Shape> inputs) const override {
    JsonWriter question;
    question.begin_object().member("layer", id).member("shapes", inputs).end_object();
    LATHE_ASSIGN_OR_RETURN(const Json answer, query_host(question.json()));
    std::vector<nn::Weight> weights;
    ObjectReader reader(answer, "the answer of the layer's host");
    const Json* list = reader.require("weights");
    LATHE_TRY(reader.finish());
    for (const Json& each : list->values()) {
      LATHE_TRY(read_weight(each, weights.emplace_back("", Shape(), "zeros")));
    }
    return weights;
  }

  Status trace(int32_t id, std::span<const Tensor> inputs, std::span<const Tensor> weights,
               std::span<const Tensor> masks, bool trains, HostTrace& traced) const override {
    const int32_t borrowed = objects().add(GraphSession(*inputs[0].builder));
    JsonWriter question;
    question.begin_object().member("layer", id).member("graph", borrowed);
    question.member("inputs", numbers_of(inputs)).member("weights", numbers_of(weights));
    question.member("masks", numbers_of(masks)).member("training", trains).end_object();
    const auto answer = query_host(question.json());
    GraphSession* session = objects().find<GraphSession>(borrowed);
    if (session == nullptr) return fail("the layer's host freed the graph that it borrowed");
    const Status status =
        answer ? read(*answer, *session, traced) : std::unexpected(answer.error());
    objects().remove(borrowed);
    return status;
  }
};

}  // namespace

void use_layer_host(QueryHost query) {
  static const JsonHost kHost;
  the_query() = query;
  network::layer_host() = query == nullptr ? nullptr : &kHost;
}

}  // namespace lathe::api
