/** The rows of the core's layer classes. */
import { type LayerRow, tables } from '../core/tables.js';

const rows = /* @__PURE__ */ new Map(tables.layers.map((row) => [row.class, row]));

/** The row of a class; without facts for models, inputs and the classes of users. */
export const layerRow = (className: string): Partial<LayerRow> => rows.get(className) ?? {};
