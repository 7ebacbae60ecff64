// One control for each option of a layer, generated from the core's table; nested layers have nested controls.
import { make, makeButton } from '../dom';
import type { LayerSpec } from '../network';
import {
  choiceTable,
  firstConfig,
  isRequired,
  layerGroups,
  type LayerOption,
  layerRow,
  tables,
  words,
} from '../tables';

type Config = Record<string, unknown>;

/** Reads and replaces the options of a layer; controls are updated, not recreated, so that focus is retained. */
export interface Access {
  get(): Config;
  set(config: Config): void;
}

/** "useBias" -> "use bias". */
const wordsOf = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** A list of integers in the format that the user enters. */
function listText(value: unknown): string {
  if (!Array.isArray(value)) return String(value ?? '');
  return value.map((each) => (Array.isArray(each) ? `[${each.join(', ')}]` : each)).join(', ');
}

/** Parses an entered number or list; other strings are passed on, and the core rejects them. */
function readList(text: string, isShape: boolean): unknown {
  if (text.trim() === '') return undefined;
  try {
    const values = JSON.parse(`[${text.replace(/[×x]/gi, ',')}]`) as unknown[];
    return values.length === 1 && !isShape ? values[0] : values;
  } catch {
    return text.trim();
  }
}

/** Sets or, where it is undefined, leaves out an option. */
function withOption(config: Config, name: string, value: unknown): Config {
  const { [name]: _, ...others } = config;
  return value === undefined ? others : { ...others, [name]: value };
}

const setter = (access: Access, name: string) => (value: unknown) =>
  access.set(withOption(access.get(), name, value));

function labelled(text: string, option: string, control: HTMLElement): HTMLElement {
  control.dataset.option = option;
  return make('label', {}, wordsOf(text), control);
}

/** A select with these values; `none` is offered where an option has no default. */
function choose(names: readonly string[], chosen: unknown, none: boolean): HTMLSelectElement {
  const control = make('select');
  if (none) control.append(new Option('none', ''));
  control.append(...names.map((name) => new Option(name, name, false, name === chosen)));
  return control;
}

function numberField(option: LayerOption, access: Access): HTMLElement {
  const set = setter(access, option.name);
  const control = make('input', {
    type: 'number',
    step: option.type === 'integer' ? '1' : 'any',
    value: String(access.get()[option.name] ?? ''),
    placeholder: String(option.default ?? (isRequired(option) ? '' : 'none')),
    onchange: () => set(control.value === '' ? undefined : control.valueAsNumber),
  });
  return labelled(option.name, option.name, control);
}

function listField(option: LayerOption, access: Access): HTMLElement {
  const set = setter(access, option.name);
  const control = make('input', {
    type: 'text',
    value: listText(access.get()[option.name]),
    placeholder: option.name === 'inputShape' ? 'of the data' : listText(option.default) || 'none',
    onchange: () => set(readList(control.value, option.type === 'shape')),
  });
  return labelled(option.name, option.name, control);
}

function textField(option: LayerOption, access: Access): HTMLElement {
  const set = setter(access, option.name);
  const permitted = words[option.name];
  const value = access.get()[option.name] ?? option.default ?? '';
  const control =
    permitted === undefined
      ? make('input', { type: 'text', value, placeholder: 'set by the page' })
      : choose(permitted, value, false);
  control.onchange = () => set(control.value === '' ? undefined : control.value);
  return labelled(option.name, option.name, control);
}

function flagField(option: LayerOption, access: Access): HTMLElement {
  const set = setter(access, option.name);
  const control = make('input', {
    type: 'checkbox',
    checked: Boolean(access.get()[option.name] ?? option.default),
    onchange: () => set(control.checked),
  });
  const made = labelled(option.name, option.name, control);
  made.classList.add('check');
  return made;
}

/** A row of a table by name, and inputs for its parameters where it has some. */
function choiceField(option: LayerOption, access: Access): HTMLElement {
  const rows = choiceTable(option.name);
  const set = setter(access, option.name);
  const value = access.get()[option.name] as string | ({ name: string } & Config) | undefined;
  const first = (typeof value === 'object' ? value.name : value) ?? option.default;
  const names = rows.map(({ name }) => name);
  const control = choose(names, first, option.default === null && !isRequired(option));
  const container = make('div', { className: 'parameters' });
  const parameterFields = () => {
    const value = access.get()[option.name];
    let parameters: Config =
      typeof value === 'object' ? (value as Config) : { name: control.value };
    const row = rows.find((each) => each.name === control.value);
    return (row?.parameters ?? []).map((parameter) => {
      const type = parameter.words === undefined ? 'number' : 'text';
      const input = make('input', {
        type,
        step: 'any',
        value: String(parameters[parameter.name] ?? ''),
        placeholder: String(parameter.default ?? 'none'),
        onchange: () => {
          const read = type === 'number' ? input.valueAsNumber : input.value;
          parameters = withOption(
            parameters,
            parameter.name,
            input.value === '' ? undefined : read,
          );
          set(parameters);
        },
      });
      return labelled(`${option.name}: ${parameter.name}`, option.name, input);
    });
  };
  control.onchange = () => {
    set(control.value === '' ? undefined : control.value);
    container.replaceChildren(...parameterFields());
  };
  container.replaceChildren(...parameterFields());
  const made = labelled(option.name, option.name, control);
  return make('div', { className: 'pair' }, made, container);
}

function layerField(
  name: string,
  isCell: boolean,
  get: () => LayerSpec,
  set: (layer: LayerSpec) => void,
): HTMLElement {
  const rows = isCell
    ? tables().layers.filter((row) => row.class.endsWith('Cell'))
    : layerGroups().flatMap(([, group]) => group);
  const control = choose(
    rows.map((row) => row.class),
    get().class,
    false,
  );
  const container = make('div');
  const inner: Access = {
    get: () => get().config,
    set: (config) => set({ ...get(), config }),
  };
  const fill = () => container.replaceChildren(...optionFields(get().class, inner, true));
  control.onchange = () => {
    set({ class: control.value, config: firstConfig(control.value) });
    fill();
  };
  fill();
  const legend = make('legend', {}, wordsOf(name));
  return make(
    'fieldset',
    { className: 'inner' },
    legend,
    labelled('class', name, control),
    container,
  );
}

function layersField(option: LayerOption, access: Access): HTMLElement {
  const get = () => (access.get()[option.name] ?? []) as LayerSpec[];
  const set = setter(access, option.name);
  const container = make('div');
  const fill = () =>
    container.replaceChildren(
      ...get().map((_, at) =>
        layerField(
          `cell ${at + 1}`,
          true,
          () => get()[at]!,
          (layer) => set(get().map((each, other) => (other === at ? layer : each))),
        ),
      ),
    );
  const resize = (layers: LayerSpec[]) => {
    set(layers);
    fill();
  };
  const cell = () => ({ class: 'LSTMCell', config: firstConfig('LSTMCell') });
  const more = makeButton('Add a cell', () => resize([...get(), cell()]));
  const fewer = makeButton('Remove the last cell', () => resize(get().slice(0, -1)));
  fill();
  return make(
    'div',
    { className: 'inner' },
    container,
    make('div', { className: 'bar' }, more, fewer),
  );
}

function optionField(option: LayerOption, access: Access): HTMLElement {
  const { name } = option;
  switch (option.type) {
    case 'integer':
    case 'number':
      return numberField(option, access);
    case 'shape':
    case 'sizes':
      return listField(option, access);
    case 'text':
      return textField(option, access);
    case 'flag':
      return flagField(option, access);
    case 'choice':
      return choiceField(option, access);
    case 'layer':
      return layerField(
        name,
        name === 'cell',
        () => access.get()[name] as LayerSpec,
        setter(access, name),
      );
    case 'layers':
      return layersField(option, access);
  }
}

/** Frequently used options; the others are under "More options" until they are set. */
const usual =
  /^(activation|strides|padding|poolSize|rate|returnSequences|useBias|alpha|stddev|size|mergeMode)$/;

/** Controls for all options of a layer of this class; a nested layer has no name, inputShape and trainable. */
export function optionFields(className: string, access: Access, isInner = false): HTMLElement[] {
  const options = (layerRow(className)?.options ?? []).filter(
    ({ name }) => !isInner || !['inputShape', 'name', 'trainable'].includes(name),
  );
  const config = access.get();
  const isVisible = (option: LayerOption) =>
    isRequired(option) || option.name in config || usual.test(option.name);
  const fields = (predicate: (option: LayerOption) => boolean) =>
    options.filter(predicate).map((option) => optionField(option, access));
  const others = fields((option) => !isVisible(option));
  const visible = make('div', { className: 'options' }, ...fields(isVisible));
  if (others.length === 0) return [visible];
  const more = make('div', { className: 'options' }, ...others);
  return [
    visible,
    make('details', { className: 'more' }, make('summary', {}, 'More options'), more),
  ];
}
