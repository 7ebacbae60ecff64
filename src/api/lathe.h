/* The C interface of Tensorlathe, the only one that other languages see. One thread at a time.
 * A call that fails returns 0 and leaves its reason in lathe_error(). Handles are never reused:
 * to free it twice, or to use it afterwards, fails. A returned text or buffer belongs to the
 * library: it lives until its object is freed or, for texts without an object, until the next call
 * of the same function. */
#ifndef LATHE_API_LATHE_H_
#define LATHE_API_LATHE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __wasm__
#define LATHE_EXPORT(name) __attribute__((export_name(#name)))
#else
#define LATHE_EXPORT(name)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Memory for arguments, 16-byte aligned; null when there is no more. */
LATHE_EXPORT(lathe_alloc) void* lathe_alloc(size_t size);
LATHE_EXPORT(lathe_free) void lathe_free(void* memory);

/* Why the last failing call failed; "" if none has. */
LATHE_EXPORT(lathe_error) const char* lathe_error(void);

/* {"name": "sequential", "seed": 42, "layers": [
 *   {"class": "Dense", "config": {"units": 128, "activation": "relu", "useBias": true,
 *    "kernelInitializer": "glorotUniform", "biasInitializer": "zeros", "inputShape": [784],
 *    "name": "dense_1"}},
 *   {"class": "Activation", "config": {"activation": {"name": "leakyRelu", "alpha": 0.3}}}]}
 * A chain of layers; "input" names an input layer, if there is one. A graph of
 * layers lists the inputs of each call of a layer, as [name, call, output] of a layer or input (0
 * where left out):
 * {"name": "model", "inputs": [{"name": "a", "shape": [8]}], "layers": [
 *   {"class": "Dense", "config": {"units": 8, "name": "d"}, "inputs": [[["a"]], [["d", 0, 0]]]},
 *   {"class": "Add", "config": {"name": "sum"}, "inputs": [[["d", 1], ["a"]]]}],
 *  "outputs": [["sum"]]}
 * "host": {"id": 7, "supportsMasking": false} in addition to class and config is a layer of the
 * host, see lathe_use_layer_host: of its config the core reads name, inputShape, trainable and
 * activityRegularizer only.
 * A model within a model has the class "Model" or "Sequential" and such an object as config, where
 * "trainable": false freezes it. Unknown keys are errors. Returns a handle > 0. */
LATHE_EXPORT(lathe_model_create) int32_t lathe_model_create(const char* json, size_t length);
LATHE_EXPORT(lathe_model_free) int32_t lathe_model_free(int32_t model);

/* {"name", "inputs": [{"name", "shape": [784]}], "outputs": [{"name", "shape": [10]}],
 *  "inputShape": [784], "outputShape": [10] (of the first ones), "totalParams", "trainableParams",
 *  "layers": [{"name", "class", "outputShape": [null, 128], "outputShapes" (of the first call),
 *              "params", "trainableParams", "inputs": [["input_1"]] (names, for each call),
 *              "layers" (of a nested model)}, ...],
 *  "weights": [{"name": "dense_1/kernel", "shape": [784, 128], "trainable"}, ...] (those that are
 *              trained first)} */
LATHE_EXPORT(lathe_model_summary) const char* lathe_model_summary(int32_t model);

/* Layers that the caller's language computes. The host answers requests in JSON with a string
 * from lathe_alloc, zero-terminated, which the library frees; {"error": "why"} rejects.
 *   {"layer": 7, "shapes": [[8]]} -> {"weights": [{"name", "shape", "initializer", "trainable",
 *     "regularizer", "constraint"}…]} of the layer for examples of these shapes.
 *   {"layer": 7, "graph": 1, "inputs": [1], "weights": [2, 3], "masks": [0], "training": false} ->
 * adds operations and constants to the graph and returns {"outputs": [9], "updates": [[1, 12]]}:
 *     weight 1 becomes value 12, in training. Requested for every call of the layer in every entry.
 * While it answers, the host may call any function but those that free what is being compiled. */
LATHE_EXPORT(lathe_use_layer_host)
void lathe_use_layer_host(char* (*host)(const char* question, size_t length));

/* {"loss": "softmaxCrossEntropy", "optimizer": {"name": "adam", "learningRate": 0.001},
 *  "labels": "dense" or "sparse", "lossWeights": 1, "batch": {"train": 64, "evaluate": 64,
 * "predict": 64}, "features": {"simd": true, "relaxedSimd": false, "threads": false},
 * "worthSplitting": 4000, "winograd": true, "origins": false, "timing": false or true or
 * "equation", "batchesInMemory": {"train": 1, "evaluate": 1, "predict": 1}, "standalone": false,
 * "verify": false (not in pages), "dumps": ["after:PASS"], "schedules":
 * {"KEY": {"rows": 4, "columns": 8}}}; every key may be left out. Without a loss there are only the
 * entries predict and predict_1. For several outputs loss, labels and lossWeights may be arrays,
 * null for an output without a loss. With "onlyStates": true nothing is compiled: the executable
 * has no entries, and only what lathe_executable_initial answers. Returns a handle > 0. */
LATHE_EXPORT(lathe_model_compile)
int32_t lathe_model_compile(int32_t model, const char* json, size_t length);
/* Whether that can be compiled, as far as layers, losses and their options determine. Returns 1. */
LATHE_EXPORT(lathe_model_check)
int32_t lathe_model_check(int32_t model, const char* json, size_t length);
/* The program that lathe_model_compile compiles, as a graph with its entries, for modules of other
 * targets. Returns {"graph": 7 (a handle), "entries": 4 (their number), "metrics", "watched"}, the
 * last two as in lathe_executable_metadata; the text lives until the next such call. */
LATHE_EXPORT(lathe_model_graph)
const char* lathe_model_graph(int32_t model, const char* json, size_t length);
LATHE_EXPORT(lathe_executable_free) int32_t lathe_executable_free(int32_t executable);

/* A program built operation by operation: entries (functions of the module) that share variables.
 * Returns a handle > 0. */
LATHE_EXPORT(lathe_graph_create) int32_t lathe_graph_create(void);
LATHE_EXPORT(lathe_graph_free) int32_t lathe_graph_free(int32_t graph);
/* Begins an entry; all calls below add to the last one begun. */
LATHE_EXPORT(lathe_graph_entry)
int32_t lathe_graph_entry(int32_t graph, const char* name, size_t length);

/* Values are described in words, which are 64-bit floats: integers, dtypes by their index in the
 * "dtypes" of lathe_describe, and values of any kind after a tag, by its index in "tags":
 *   absent | null | false | true | number N | text COUNT BYTE… | list COUNT VALUE… | object
 * Functions that return values do so in words, valid until the next such call: for each its number,
 * > 0 within its entry, its dtype, how many axes it has and their sizes. */
/* A name as a value, a dtype, a shape as a value; an argument of each call. */
LATHE_EXPORT(lathe_graph_input)
const double* lathe_graph_input(int32_t graph, const double* words, size_t count);
/* The same; lives between calls and is shared by name with other entries. */
LATHE_EXPORT(lathe_graph_state)
const double* lathe_graph_state(int32_t graph, const double* words, size_t count);
/* A dtype and a shape as a value; all elements, or one that fills the shape, in memory from
 * lathe_alloc, which belongs to the library from then on, even if the call fails. */
LATHE_EXPORT(lathe_graph_constant)
const double* lathe_graph_constant(int32_t graph, const double* words, size_t count, void* data,
                                   size_t size);
/* The operation by its index in the "operations" of lathe_describe, how many operands, their
 * numbers, then the values of its parameters that are no tensors, dtypes as numbers; those at the
 * end may be left out. */
LATHE_EXPORT(lathe_graph_operation)
const double* lathe_graph_operation(int32_t graph, const double* words, size_t count);
/* 0, the number of the loss, a float without axes, and those of what it is derived by; or how many
 * targets, their numbers, those of as many factors of their types, and of what the sum of the
 * products is derived by, as if the factors were constants. Answers the gradients. */
LATHE_EXPORT(lathe_graph_gradients)
const double* lathe_graph_gradients(int32_t graph, const double* words, size_t count);
/* Bodies of branches and loops. From the first call to the second, inputs, constants, operations,
 * gradients and outputs are those of a body, one within the other; it reads whatever is around it.
 * The numbers of its values are < 0. The second answers the number of the body, > 0. */
LATHE_EXPORT(lathe_graph_begin_body) int32_t lathe_graph_begin_body(int32_t graph);
LATHE_EXPORT(lathe_graph_end_body) int32_t lathe_graph_end_body(int32_t graph);
/* A bool without axes, and the bodies of the branches, without inputs, of which one runs; answers
 * their outputs. */
LATHE_EXPORT(lathe_graph_cond)
const double* lathe_graph_cond(int32_t graph, const double* words, size_t count);
/* The body of the condition, that of the loop, both with an input for each variable,
 * the maximum number of iterations, and the initial values of the variables; returns the last ones.
 */
LATHE_EXPORT(lathe_graph_while)
const double* lathe_graph_while(int32_t graph, const double* words, size_t count);
/* Values by their numbers. */
LATHE_EXPORT(lathe_graph_values)
const double* lathe_graph_values(int32_t graph, const double* numbers, size_t count);

/* One call of a layer as a program of one entry: {"layer" (as in lathe_model_create), "inputs":
 * [1, 3, 32, 5, 10] (for each whether it has a mask, its number of axes and their sizes, the batch
 * first), "training": false}. Returns {"graph": 7 (a handle), "inputs": [{"name", "dtype",
 * "shape"}…], "outputs": […]}, named as in src/nn/layer_graph.h; the text lives until the next such
 * call. */
LATHE_EXPORT(lathe_layer_graph) const char* lathe_layer_graph(const char* json, size_t length);

LATHE_EXPORT(lathe_graph_output)
int32_t lathe_graph_output(int32_t graph, const char* name, size_t length, int32_t value);
/* After each call of the entry the content of the state is the value. */
LATHE_EXPORT(lathe_graph_update)
int32_t lathe_graph_update(int32_t graph, int32_t state, int32_t value);
/* A segment of the only entry as a separate program, to read a data-dependent size before the
 * next segment is traced: its index, the number of boundary values that the entry is split after,
 * their numbers in ascending order, and those of other requested results of the segment. Ports are
 * named as in src/graph/segment.h. Returns the handle of a graph > 0. */
LATHE_EXPORT(lathe_graph_segment)
int32_t lathe_graph_segment(int32_t graph, const double* words, size_t count);
/* A program of one entry as returned by lathe_onnx_graph: its bytes, and address and size of each
 * of `count` constants, in memory from lathe_alloc, which belongs to the library from then on, even
 * if the call fails. Returns a handle > 0. */
LATHE_EXPORT(lathe_graph_decode)
int32_t lathe_graph_decode(const uint8_t* bytes, size_t size, const size_t* constants,
                           size_t count);
/* The opposite, for modules of other targets: of the entry of this index, after the optimizations
 * that they do not have (`keeps_float16`: with constants of float16 as they are), the address and
 * size of its bytes, how many constants, and address and size of each; valid until the next such
 * call. */
LATHE_EXPORT(lathe_graph_encode)
const size_t* lathe_graph_encode(int32_t graph, int32_t entry, int32_t keeps_float16);
/* What a program of one entry computes as part of another one: its handle, and the numbers of
 * the values for its inputs, in order, of their types; returns its outputs. */
LATHE_EXPORT(lathe_graph_inline)
const double* lathe_graph_inline(int32_t graph, const double* words, size_t count);
/* {"features", "worthSplitting", "winograd", "origins", "verify", "dumps"} as in
 * lathe_model_compile, and "relocatable": whether the module imports a memory that others share and
 * its entries have parameters for bases (scratch, constants, each state, input and output); with
 * threads that memory is a shared one. States start as zeros. The graph can be compiled repeatedly.
 * Returns the handle of an executable > 0. */
LATHE_EXPORT(lathe_graph_compile)
int32_t lathe_graph_compile(int32_t graph, const char* json, size_t length);
/* The same for the last time: the graph has no entries afterwards, which frees the memory of
 * constants that are packed. */
LATHE_EXPORT(lathe_graph_take_compiled)
int32_t lathe_graph_take_compiled(int32_t graph, const char* json, size_t length);

/* The module, lathe_executable_size bytes; of a relocatable one without its constants. */
LATHE_EXPORT(lathe_executable_bytes) const uint8_t* lathe_executable_bytes(int32_t executable);
LATHE_EXPORT(lathe_executable_size) size_t lathe_executable_size(int32_t executable);
/* The module without its data section, and the content of that section, for callers that initialize
 * the memory themselves: the address of the module and its bytes, the number of segments, and for
 * each its offset in the memory, its address here and its bytes. */
LATHE_EXPORT(lathe_executable_parts) const size_t* lathe_executable_parts(int32_t executable);

/* The memory layout of the module: the module's custom section "tensorlathe", with
 * "trainable" in every state. */
LATHE_EXPORT(lathe_executable_metadata) const char* lathe_executable_metadata(int32_t executable);
/* [{"when":"after:PASS","text":…}…] for the requested "dumps". */
LATHE_EXPORT(lathe_executable_dumps) const char* lathe_executable_dumps(int32_t executable);

/* The contractions of the module, each key once, the schedules they got, what they would get by
 * default, and others worth trying:
 * [{"key","count","multiplyAdds","schedule":{"rows","columns",…},"standard":{…},"candidates":[…]}…].
 */
LATHE_EXPORT(lathe_executable_contractions)
const char* lathe_executable_contractions(int32_t executable);
/* {"key": "KEY", "schedule": {"rows": 4}}: one of those contractions standalone, for measuring. Its
 * entry `run` reads inputs `x` and `y`. Returns the handle > 0 of an executable. */
LATHE_EXPORT(lathe_executable_kernel)
int32_t lathe_executable_kernel(int32_t executable, const char* json, size_t length);

/* The initial content of `count` states, contiguous, by their indices in the
 * metadata. It is generated on request, which for large weights is slower than compiling,
 * and valid until the next request. */
LATHE_EXPORT(lathe_executable_initial)
const void* lathe_executable_initial(int32_t executable, const int32_t* states, size_t count);

/* A standalone executable of the same entries: the initial states of its module are
 * `states`, one after the other in the order of the metadata, without gaps. Returns a handle > 0.
 */
LATHE_EXPORT(lathe_executable_export)
int32_t lathe_executable_export(int32_t executable, const void* states);

/* Models, graphs and executables not yet freed. */
LATHE_EXPORT(lathe_live_objects) int32_t lathe_live_objects(void);

/* Any WebAssembly module as text; fails where it is corrupt. */
LATHE_EXPORT(lathe_wat) const char* lathe_wat(const uint8_t* bytes, size_t length);

/* The tables of the core, which lathe-core.wasm leaves out:
 * {"dtypes","tags","scalarOps","operations","activations","losses","optimizers","initializers",
 *  "layers","passes","scheduleFields"};
 * a dtype is {"name","numpy","array"}, the last its typed array, a choice
 * {"name","parameters":[{"name","default"}…]}, a layer
 * {"class","name","doc","options":[{"name","type","default"}…]}. */
LATHE_EXPORT(lathe_describe) const char* lathe_describe(void);

#ifdef __cplusplus
}
#endif

#endif
