// The playground's data from CSV files: separators, errors, scaling and regression.
import assert from 'node:assert/strict';
import { matrix, namesOfLayers } from './page_driver.mjs';

/** Two clouds of points; their distance is a third column. */
function csv() {
  const lines = ['width,colour,distance,kind'];
  for (let row = 0; row < 240; ++row) {
    const kind = row % 2 === 0 ? 'apple' : 'pear';
    const width = (kind === 'apple' ? 8 : 4) + Math.sin(row * 12.9);
    lines.push(
      `${width.toFixed(3)},${row % 3 === 0 ? 'red' : 'green'},${(2 * width + 1).toFixed(3)},${kind}`,
    );
  }
  return `${lines.join('\n')}\n,red,1,apple\n`;
}

/** Semicolons and decimal commas; wrong rows are named, and omitted on request. */
async function checkFaults(driver) {
  const good = Array.from({ length: 30 }, (_, row) => {
    const kind = row % 2 === 0 ? 'a;b' : '"c;d"';
    return `${row},5;${kind};${row % 2}`;
  });
  const lines = good.map((line, row) => (row % 2 === 0 ? line.replace('a;b', 'ab') : line));
  lines[4] = 'many;ab;0';
  lines[6] = '6,5;ab';
  const isOpen = `!document.getElementById('table-faults').hidden`;
  await driver.setFiles('csv-file', { 'bad.csv': `size;kind;one\n${lines.join('\n')}\n` });
  await driver.until(isOpen);
  assert.match(await driver.text('data-problem'), /bad.csv: 2 of 30 rows are wrong/);
  const faults = await driver.text('faults');
  assert.match(faults, /line 6, column size: “many” is no number/);
  assert.match(faults, /line 8 has 2 fields, but there are 3 columns/);
  assert.match(await driver.text('data-text'), /fruit.csv/, 'the data of before stay');
  await driver.click('#skip-faults');
  await driver.untilText('table-preview', '/28 rows, with semicolons between the fields/');
  assert.equal(await driver.run(isOpen), false);
  assert.match(await driver.text('table-preview'), /0\.5ab0/);
  assert.match(await driver.text('left-out'), /2 left out: line 6.*line 8/);
  await driver.setFiles('csv-file', { 'open.csv': 'a,b\n1,"2\n3,4\n' });
  await driver.untilText('data-problem', '/line 2: a quotation mark is never closed/');
}

/** The first line may be a row: the page asks, and does as answered. */
async function checkHeader(driver) {
  const rows = Array.from({ length: 30 }, (_, row) => `${row},${row + 100},${row % 2 ? 'a' : 'b'}`);
  const file = { 'plain.csv': rows.join('\n') };
  const asks = `!document.getElementById('header-question').hidden`;
  await driver.setFiles('csv-file', file);
  await driver.until(asks);
  assert.match(await driver.text('header-question'), /Its first line is\s+0, 100, b/);
  await driver.click('#has-no-header');
  await driver.untilText('table-preview', '/30 rows.*column 1column 2column 3/');
  assert.match(await driver.text('lead'), /learn to predict column 3 from plain\.csv/);
  assert.equal(await driver.run(asks), false);
  await driver.setFiles('csv-file', file);
  await driver.until(asks);
  await driver.click('#has-header');
  await driver.untilText('table-preview', '/29 rows/');
}

/** Columns without information are omitted, not the entire file; files of Excel are read by their encoding. */
async function checkColumns(driver) {
  const lines = ['number,survived,name,class,sex,age,cabin,port,'];
  for (let row = 0; row < 120; ++row) {
    const age = row % 10 === 0 ? '' : 20 + (row % 40);
    lines.push(
      `${row},${row % 2},"Name, Mr ${row}",${(row % 3) + 1},${row % 2 ? 'männlich' : 'weiblich'},${age},${row % 9 ? '' : 'C8'},S,`,
    );
  }
  lines.push('1,0,0', '1,0,0,0,0,0,0,0');
  const latin = Array.from(lines.join('\r\n'), (letter) => letter.charCodeAt(0));
  await driver.run(`(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([Uint8Array.from([${latin}])], 'ship.csv'));
    const input = document.getElementById('csv-file');
    input.files = transfer.files;
    input.dispatchEvent(new Event('change', { bubbles: true }));
  })()`);
  await driver.untilText('faults', '/line 122 has 3 fields.*line 123 has 8 fields/');
  await driver.click('#skip-faults');
  await driver.untilText('left-out', '/^Columns left out/');
  assert.match(
    await driver.text('left-out'),
    /^Columns left out: cabin \(106 of 120 cells are empty\), number 9 \(120 of 120 cells are empty\), name \(108 different words\), port \(one word only\)\. 14 left out: line 2, column age: empty;/,
  );
  await driver.untilText('data-text', '/86 examples .* 22 .*ship.csv.*age, a value/');
  assert.match(await driver.text('table-preview'), /männlich/);
  await driver.set('#target', 'survived');
  await driver.untilText('data-text', '/Each has 5 numbers; survived, one of 2 classes/');
  await driver.set('#target', 'name');
  await driver.untilText('data-problem', '/the column name has 108 different values/');
}

/** Percents are numbers; numbers with commas cause a hint. */
async function checkNotations(driver) {
  const lines = Array.from({ length: 30 }, (_, row) => `"1,${100 + row}",${row}%,${row % 2}`);
  const file = (rows) => ({ 'prices.csv': `price,share,sold\n${rows.join('\n')}\n` });
  await driver.setFiles('csv-file', file(lines));
  await driver.untilText('data-problem', '/prices.csv: 30 of 30 rows are wrong/');
  assert.match(
    await driver.text('faults'),
    /line 2, column price: “1,100” is no number; write 1100/,
  );
  await driver.setFiles('csv-file', file(lines.map((line) => line.replace(/"1,(\d+)"/, '1$1'))));
  await driver.untilText('table-preview', '/30 rows, .*1100001101.*0\\.01/');
}

/** A row of the user's own is answered while it is entered. */
async function checkAsking(driver) {
  const enter = (width, distance) =>
    driver.run(`(() => {
      const [first, , last] = document.querySelectorAll('#ask-fields input, #ask-fields select');
      first.value = ${JSON.stringify(width)};
      last.value = ${JSON.stringify(distance)};
      last.dispatchEvent(new Event('input', { bubbles: true }));
    })()`);
  await driver.click('#ask-fill');
  const truth = /its kind is (apple|pear)\./.exec(await driver.text('ask-truth'));
  assert.ok((await driver.text('answer')).startsWith(`${truth[1]}, I think`), truth[0]);
  await enter('8', '17');
  assert.match(await driver.text('answer'), /^apple, I think/);
  await enter('4', '9');
  assert.match(await driver.text('answer'), /^pear, I think/);
  await enter('400', '9');
  assert.match(await driver.text('answer'), /^Not sure: unlike all rows/);
  await enter('wide', '9');
  assert.match(await driver.text('answer'), /^width: enter a number/);
  await driver.click('#ask-fill');
}

/** Points in the plane: a training begins, and the border and its answers follow. */
export async function checkPlane(driver) {
  await driver.set('#shape', 'moons');
  await driver.untilText('status', '/^Epoch/');
  await driver.untilText('status', '/^Trained/');
  assert.ok(parseFloat(await driver.text('score')) > 95, await driver.text('score'));
  assert.match(await driver.text('lead'), /border between two moons/);
  const colors = `(() => {
    const map = document.getElementById('plane-map');
    const { data } = map.getContext('2d').getImageData(0, 0, map.width, map.height);
    const found = { teal: 0, orange: 0 };
    for (let at = 0; at < data.length; at += 4) if (data[at + 3] > 60) ++found[data[at] > data[at + 2] ? 'orange' : 'teal'];
    return found;
  })()`;
  const { teal, orange } = await driver.run(colors);
  assert.ok(teal > 50000 && orange > 50000, `both sides are colored: ${teal}, ${orange}`);
  await driver.untilText('plane-guess', '/^(teal|orange), I think/');
  await driver.run(`document.getElementById('plane-map').focus()`);
  for (let step = 0; step < 20; ++step) await driver.page.keyboard.press('ArrowUp');
  await driver.untilText('plane-guess', '/^Not sure: unlike all points/');
  await driver.click('#drawn');
  await driver.untilText('data-text', '/digits drawn/');
  assert.equal(await driver.run(`document.getElementById('plane').hidden`), true);
  return `moons: ${teal} and ${orange} pixels`;
}

export async function checkTables(driver) {
  await driver.setFiles('csv-file', { 'broken.csv': 'a,b\n1,2\n3\n' });
  await driver.until(`!document.getElementById('data-problem').hidden`);
  assert.match(await driver.text('data-problem'), /line 3 has 1 fields, but there are 2 columns/);
  assert.match(await driver.text('data-text'), /digits drawn/, 'the data of before stay');

  await driver.drop({ 'fruit.csv': csv() });
  await driver.untilText('data-text', '/192 examples .* 48 .* fruit.csv.* one of 2 classes/');
  assert.match(await driver.text('table-preview'), /240 rows, with commas between the fields/);
  assert.match(await driver.text('left-out'), /^1 left out: line 242, column width: empty\.$/);
  const settingOf = (id) => driver.run(`Number(document.getElementById('${id}').value)`);
  assert.deepEqual([await settingOf('batch-size'), await settingOf('epochs')], [8, 60]);
  assert.match(await driver.text('data-text'), /Batches of 8 and 60 epochs fit so many/);
  assert.equal(await driver.run(namesOfLayers), 'Input,Dense,Dense');
  await driver.set('#batch-size', '16');
  await driver.train(10);
  assert.equal(await driver.text('score'), '100.00 %');
  assert.equal((await driver.run(matrix)).length, 2);

  await checkAsking(driver);
  await driver.set('#target', 'distance');
  await driver.untilText('data-text', '/distance, a value.* scaled to mean 0 and deviation 1/');
  assert.equal(await driver.run(`document.getElementById('loss').value`), 'meanSquaredError');
  await driver.set('#learning-rate', '0.02');
  await driver.train(20);
  assert.ok(Number(await driver.text('score')) < 5, await driver.text('score'));
  assert.equal(await driver.run(`document.querySelectorAll('.scatter circle').length`), 48);
  const marks = await driver.run(
    `[...document.querySelectorAll('.scatter text')].map((each) => Number(each.textContent))`,
  );
  assert.ok(Math.max(...marks.filter(Number.isFinite)) >= 15, `in the column's unit: ${marks}`);
  await checkFaults(driver);
  await checkColumns(driver);
  await checkNotations(driver);
  await checkHeader(driver);
  await driver.drop({ 'notes.pdf': 'no' });
  assert.match(await driver.text('data-problem'), /notes.pdf: neither a .csv file, nor a model/);
  await driver.setFiles('idx-files', {
    'train-images': 'no',
    'train-labels': 'no',
    't10k-images': 'no',
    't10k-labels': 'no',
  });
  await driver.untilText('data-problem', '/train-images: no idx file/');
  await driver.drop({ 'fruit.csv': csv() });
  await driver.untilText('data-text', '/fruit.csv/');
  assert.equal(await driver.problems(), '', 'a good file clears the errors of others');
  await driver.click('#drawn');
  await driver.untilText('data-text', '/digits drawn/');
  assert.match(await driver.text('lead'), /handwritten digits\. Then draw one/);
}
