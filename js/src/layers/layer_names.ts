/** Class and default names of layers. */
/** The class of `input`. */
export const inputClassName = 'InputLayer';

/** The stem of generated names of a class, before the number. */
export const nameStem = (className: string): string =>
  className === inputClassName
    ? 'input'
    : className === 'Model'
      ? 'model'
      : className === 'Sequential'
        ? 'sequential_'
        : `${className
            .replace(/(.)([A-Z][a-z0-9]+)/g, '$1_$2')
            .replace(/([a-z])([A-Z])/g, '$1_$2')
            .toLowerCase()}_${className}`;
