/* The part of the C interface that reads and writes saved models of TensorFlow.js and Keras: what
 * is in their files, not where these are. In pages it is a separate module, lathe-formats.wasm,
 * which is loaded when a model is first loaded or saved. The conventions are those of api/lathe.h.
 * Strings are JSON; a network, its summary by the core and what it is trained with are as that
 * header has them. */
#ifndef LATHE_API_FORMATS_LATHE_FORMATS_H_
#define LATHE_API_FORMATS_LATHE_FORMATS_H_

#include "lathe/api/lathe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* {"topology", "classes": [custom ones of the program]} -> {"network", "leftOut":
 * [options that only affect training]}. Shapes may have null axes. */
LATHE_EXPORT(lathe_read_topology)
const char* lathe_read_topology(const char* json, size_t length);

/* {"network", "summary"} -> the topology. Fails for layers that have no representation in the
 * format. */
LATHE_EXPORT(lathe_write_topology)
const char* lathe_write_topology(const char* json, size_t length);

/* trainingConfig -> {"loss", "lossWeights", "metrics", "optimizer"}, and back. */
LATHE_EXPORT(lathe_read_training)
const char* lathe_read_training(const char* json, size_t length);
LATHE_EXPORT(lathe_write_training)
const char* lathe_write_training(const char* json, size_t length);

/* {"specs": the weight specifications, "bytes": those of the data} -> the bytes of each tensor, in
 * order: [400, 40]. Fails where the data are shorter or longer. */
LATHE_EXPORT(lathe_read_specs) const char* lathe_read_specs(const char* json, size_t length);

/* The elements of a tensor that is stored quantized, in its "dtype": `json` is its
 * specification, `bytes` any part of its data, of complete elements. The result is valid until the
 * next call. */
LATHE_EXPORT(lathe_decode_elements)
const void* lathe_decode_elements(const char* json, size_t length, const void* data, size_t bytes);

/* Quantizes floats: of {"name", "bits": "uint8"} the range of these, [minimum, maximum]; with
 * the "range" of the entire tensor {"quantization": that of its specification, "at", "bytes": the
 * stored elements}, which are valid until the next call. Fails for numbers outside the range of the
 * type. */
LATHE_EXPORT(lathe_encode_elements)
const char* lathe_encode_elements(const char* json, size_t length, const void* data, size_t bytes);

/* {"summary", "tensors": [{"name", "shape"}…], "strict"} -> [[weight of the summary,
 * tensor that it becomes]…]. With "strict" weights that are missing or left over are errors. */
LATHE_EXPORT(lathe_match_weights) const char* lathe_match_weights(const char* json, size_t length);

/* {"summary", "optimizer", "states": [{"name", "shape"}…], "tensors", "steps"} ->
 * {"tensors": [[state, tensor]…], "numbers": [[state, its value]…]}. */
LATHE_EXPORT(lathe_match_optimizer)
const char* lathe_match_optimizer(const char* json, size_t length);

/* {"summary", "states"} -> {"weights": [the name of each of the summary], "optimizer":
 * [{"name", "shape", "state": its index or null for zeros, "isSteps": whether it is the one
 * i32}…]}.
 */
LATHE_EXPORT(lathe_saved_tensors) const char* lathe_saved_tensors(const char* json, size_t length);

/* Of a file of Keras 2 {"layers": [{"name", "weights": [paths]}…], "optimizer": [paths],
 * "training": its training_config} -> {"weights": [the name of each], "steps": the index of the
 * steps among the optimizer's tensors or null, "slots": [{"path": its index there, "name",
 * "divisor": of its numbers, or null}…]}. */
LATHE_EXPORT(lathe_keras_tensors) const char* lathe_keras_tensors(const char* json, size_t length);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* LATHE_API_FORMATS_LATHE_FORMATS_H_ */
