/* The C interface of lathe-onnx.wasm, which reads ONNX models and traces them to graphs for
 * lathe-core.wasm. Conventions, lathe_alloc, lathe_free and lathe_error are those of lathe.h. */
#ifndef LATHE_API_ONNX_H_
#define LATHE_API_ONNX_H_

#include "lathe/api/lathe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A file in memory from lathe_alloc, which belongs to the library from then on, even if the call
 * fails. Returns a handle > 0. Errors: what is no ONNX model; operators that are not supported, all
 * of them. */
LATHE_EXPORT(lathe_onnx_open) int32_t lathe_onnx_open(void* file, size_t size);
LATHE_EXPORT(lathe_onnx_free) int32_t lathe_onnx_free(int32_t model);

/* {"inputs", "outputs": [{"name", "kind": "tensor", "type": "float32", "shape": [1, "batch", null]}
 * …] (no shape: it is unknown; of sequences and optionals "element" instead; of maps also
 * "key"), "metadata": {…}, "producer", "domain", "description", "version", "irVersion",
 * "operatorSets": {"": 17}, "externalFiles": ["weights.bin"]} */
LATHE_EXPORT(lathe_onnx_describe) const char* lathe_onnx_describe(int32_t model);

/* One of the external files, in memory as for lathe_onnx_open. All must be there before the model
 * is traced. */
LATHE_EXPORT(lathe_onnx_external)
int32_t lathe_onnx_external(int32_t model, const char* location, size_t length, void* file,
                            size_t size);

/* Traces the model for inputs of these types: {"inputs": [PORT…], "breakValues": [CONTENT…]}.
 * PORT: {"kind": "tensor", "type", "shape"}, with "strings" or, if its content is required,
 * "data": [offset, size] in `data`, "paddedAxes": [1], whose valid
 * length is the graph's input "count"; {"kind": "sequence", "type", "elements": [PORT…]}; null
 * for an absent optional one. CONTENT: {"type", "shape", "data"}, the values at the graph
 * breaks, in order. "cache": [[input, result]…], indices of inputs and outputs that are cached in
 * states, [input, result, axis] of rows, [input] of a constant one; "newRows", "mask",
 * "weightInputs" ("trained" or "large"), "dependencies" (whether they are returned): see
 * src/import/onnx/trace/trace.h. Returns the handle > 0 of a trace. */
LATHE_EXPORT(lathe_onnx_trace)
int32_t lathe_onnx_trace(int32_t model, const char* json, size_t length, const uint8_t* data,
                         size_t size);
/* {"isComplete", "weights": [{"name", "type", "shape"}…] (of the inputs "w0"…),
 * "concatenatesCache", "quantizesJointly", "isCapacityIndependent", "requiredContents": [0]
 * (indices of inputs), "splitPoints": [17] (values), "inputs", "results": [PORT…],
 * "dependencies": [[0, 2]…]}, see src/import/onnx/trace/trace.h. A PORT of a tensor has the "name"
 * of the graph's input or output, and its "paddedAxes". */
LATHE_EXPORT(lathe_onnx_trace_text) const char* lathe_onnx_trace_text(int32_t trace);
/* The arguments of lathe_graph_decode: address and size of the bytes, how many constants, and
 * address and size of each; then those of the weights that are inputs. */
LATHE_EXPORT(lathe_onnx_graph) const size_t* lathe_onnx_graph(int32_t trace);
LATHE_EXPORT(lathe_onnx_trace_free) int32_t lathe_onnx_trace_free(int32_t trace);

/* Models and traces not yet freed. */
LATHE_EXPORT(lathe_onnx_live_objects) int32_t lathe_onnx_live_objects(void);

#ifdef __cplusplus
}
#endif

#endif
