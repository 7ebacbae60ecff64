#include "lathe/api/layer_graph.h"

#include "lathe/base/json_writer.h"
#include "lathe/base/text.h"
#include "lathe/network/json_reader.h"
#include "lathe/network/network_json.h"
#include "lathe/nn/layer_graph.h"

namespace lathe::api {
namespace {

// For each input whether it has a mask, its number of axes and their sizes.
Status read_inputs(std::span<const int64_t> words, nn::LayerCall& call) {
  while (words.size() >= 2) {
    const auto rank = static_cast<size_t>(words[1]);
    if (rank > words.size() - 2) break;
    call.masked.push_back(words[0] != 0);
    call.shapes.emplace_back(words.begin() + 2, words.begin() + 2 + words[1]);
    words = words.subspan(2 + rank);
  }
  return words.empty() ? Status() : fail("inputs: an input is not complete");
}

void write_port(JsonWriter& json, std::string_view name, const graph::Node& node) {
  json.begin_object().member("name", name).member("dtype", scalar::text(node.dtype));
  json.member("shape", node.shape).end_object();
}

}  // namespace

Result<LayerGraph> layer_graph(std::string_view text) {
  LATHE_ASSIGN_OR_RETURN(const Json json, network::parse_json(text));
  network::ObjectReader reader(json, "");
  nn::LayerCall call;
  std::vector<int64_t> words;
  const Json* layer = reader.require("layer");
  reader.integers("inputs", words);
  reader("training", call.trains);
  LATHE_TRY(reader.finish());
  LATHE_TRY(read_inputs(words, call));
  LATHE_ASSIGN_OR_RETURN(const nn::LayerPtr parsed, network::parse_layer(*layer, "layer"));
  LATHE_ASSIGN_OR_RETURN(graph::Graph graph, nn::layer_graph(parsed, call));
  JsonWriter ports;
  ports.key("inputs").begin_array();
  for (const graph::Value input : graph::inputs_of(graph)) {
    write_port(ports, graph[input].name, graph[input]);
  }
  ports.end_array().key("outputs").begin_array();
  for (const graph::Output& output : graph.outputs) {
    write_port(ports, output.name, graph[output.value]);
  }
  ports.end_array();
  return LayerGraph{GraphSession(std::move(graph)), ports.release()};
}

}  // namespace lathe::api
