// Programs as text, as somebody would write them.

function numberText(value) {
  return Object.is(value, -0) ? '-0' : String(value);
}

function argument(value) {
  if (value === undefined || value === null) return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object') return numberText(value);
  if ('ref' in value) return `t${value.ref}`;
  if ('number' in value) return numberText(value.number);
  if (Array.isArray(value)) return `[${value.map(argument).join(', ')}]`;
  const entries = Object.entries(value).map(([name, each]) => `${name}: ${argument(each)}`);
  return `{ ${entries.join(', ')} }`;
}

function leafText({ id, shape, dtype, values, isVariable }) {
  const made = `tf.tensor([${[...values].map(numberText)}], [${shape}], '${dtype}')`;
  return `const t${id} = ${isVariable ? `tf.variable(${made})` : made};`;
}

export function stepText({ name, args, isChained, outs = [] }) {
  const texts = args.map(argument);
  const call = isChained
    ? `${texts[0]}.${name}(${texts.slice(1).join(', ')})`
    : `tf.${name}(${texts.join(', ')})`;
  return outs.length === 0
    ? `${call};`
    : `const ${outs.map((id) => `t${id}`).join(', ')} = ${call};`;
}

/** The program, a statement a line. */
export const programText = ({ leaves, steps }) =>
  [...leaves.map(leafText), ...steps.map(stepText)].join('\n');
