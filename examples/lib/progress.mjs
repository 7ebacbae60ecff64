// Shows the progress of training: a bar that is redrawn on a terminal, one line per epoch elsewhere.

/** Callbacks for `fit` over `epochs` epochs of `rows` rows. */
export function progress(epochs, rows, out = process.stdout) {
  let done = 0;
  let last = 0;
  const epochText = (epoch) =>
    `epoch ${String(epoch + 1).padStart(String(epochs).length)}/${epochs}`;
  let epochNow = 0;
  return {
    onEpochBegin(epoch) {
      epochNow = epoch;
      done = 0;
    },
    onBatchEnd(_, { size, loss, acc, imagesPerSecond }) {
      done += size;
      const now = performance.now();
      if (!out.isTTY || (now - last < 50 && done < rows)) return;
      last = now;
      out.write(
        `\r\x1b[K${epochText(epochNow)} ${bar(done / rows)} ${numbers(loss, acc, imagesPerSecond)}`,
      );
    },
    onEpochEnd(epoch, logs) {
      if (out.isTTY) out.write('\r\x1b[K');
      const { loss, acc, imagesPerSecond } = logs;
      out.write(`${epochText(epoch)}  ${numbers(loss, acc, imagesPerSecond)}${tested(logs)}\n`);
    },
  };
}

const percent = (share) => `${(100 * share).toFixed(2).padStart(6)} %`;

const numbers = (loss, acc, imagesPerSecond) =>
  [
    `loss ${loss.toFixed(4)}`,
    ...(acc === undefined ? [] : [`accuracy ${percent(acc)}`]),
    `${Math.round(imagesPerSecond).toLocaleString('en').padStart(7)} ${acc === undefined ? 'rows' : 'images'}/s`,
  ].join('  ');

const tested = ({ val_acc, val_loss }) => {
  if (val_acc !== undefined) return `  test ${percent(val_acc)}`;
  return val_loss === undefined ? '' : `  test ${val_loss.toFixed(4)}`;
};

function bar(share, width = 24) {
  const full = Math.round(share * width);
  return `[${'█'.repeat(full)}${'·'.repeat(width - full)}]`;
}
