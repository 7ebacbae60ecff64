// Reads JSON objects with a fixed set of keys into C++ values. Errors name the path and the value:
// `layers[0].config.units: must be a positive integer, got "x"`.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lathe/base/json.h"
#include "lathe/base/result.h"
#include "lathe/graph/graph.h"
#include "lathe/nn/spatial.h"
#include "lathe/nn/tables.h"

namespace lathe::network {

// Rejects strings longer than 1 MiB or nested deeper than 32.
Result<Json> parse_json(std::string_view text);

class ObjectReader {
 public:
  // `path` names this object in errors; empty for the document. The JSON must outlive the
  // reader.
  ObjectReader(const Json& json, std::string path);

  // Each reads the key if it is present, else does not change `value`. The first error is stored;
  // later calls do nothing.
  void operator()(std::string_view key, int64_t& value);   // positive, ≤ 2^31 - 1
  void operator()(std::string_view key, int32_t& value);   // any
  void operator()(std::string_view key, uint64_t& value);  // ≤ 2^53
  void operator()(std::string_view key, bool& value);
  void operator()(std::string_view key, std::string& value);
  void operator()(std::string_view key, std::vector<std::string>& value);
  void operator()(std::string_view key, graph::Shape& value);
  // Any finite number.
  void number(std::string_view key, double& value);
  // An array of 32-bit integers, or a single one.
  void integers(std::string_view key, std::vector<int64_t>& value);
  // An array of pairs of such integers.
  void pairs(std::string_view key, std::vector<std::pair<int64_t, int64_t>>& value);
  void operator()(std::string_view key, double& value);
  // 3, [3, 5], or pairs [[1, 2], [3, 4]] one after the other; null in an array is -1.
  void operator()(std::string_view key, nn::Sizes& value);
  // An integer of up to 53 bits; null counts as absent.
  void operator()(std::string_view key, nn::Seed& value);
  // "relu" or {"name":"leakyRelu","alpha":0.3}; null counts as absent,
  // also for a parameter. {"name":"mine","host":3}: a loss of the layer host.
  void operator()(std::string_view key, nn::Choice& value);
  // Of "kernel": kernelInitializer, kernelRegularizer and kernelConstraint.
  void operator()(std::string_view key, nn::WeightOptions& value);

  // The value of a key, or null if it is absent; absence of a required key is an error.
  const Json* find(std::string_view key);
  const Json* require(std::string_view key);
  std::string path_of(std::string_view key) const;

  // The first error.
  Status status() const;
  // The first error; else an unknown key.
  Status finish() const;

 private:
  void set_error(std::string_view key, std::string_view expected, const Json& got);

  const Json& json_;
  std::string path_;
  std::string message_;
  std::vector<std::string_view> declared_;
  std::list<std::string> composed_keys_;  // keys composed here, referenced by declared_
};

}  // namespace lathe::network
