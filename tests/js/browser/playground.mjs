// The playground end to end in any browser: train, edit as layers and as code, CSV, save and load, compare, keyboard, phone.
import { mnistAbsent } from '../lib.mjs';
import { modelsAbsent } from '../models.mjs';
import { checkAxe, checkFeatures, checkKeyboard, checkPhone } from './page_access.mjs';
import { checkFirstSight, checkNoScript, checkRest, checkStopping } from './page_first.mjs';
import { Driver } from './page_driver.mjs';
import { checkCode, checkIdx, checkLayers, checkModule, checkSaving } from './page_editing.mjs';
import { checkInspector, checkKeras } from './page_inspect.mjs';
import { checkPicture, checkTour } from './page_picture.mjs';
import { checkPlane, checkTables } from './page_tables.mjs';
import { siteFolder } from './server.mjs';
import {
  checkComparison,
  checkDrawing,
  checkMishaps,
  checkOffline,
  checkTraining,
} from './page_training.mjs';

/** All checks. `engine` names the screenshots; `plain` is not isolated; `canEmulate`: the browser can emulate color schemes. */
export async function checkPlayground(report, page, url, { engine, plain, canEmulate }) {
  const driver = new Driver(page, engine);
  const check = (name, action) => report.check(`playground: ${name}`, action);
  const path = `${siteFolder}index.html?digits=3000`;
  const address = `${url}${path}&train=no`;
  await check('learns by itself at first sight', () => checkFirstSight(driver, `${url}${path}`));
  await check('stops, and retains changes', () => checkStopping(driver, `${url}${path}`));
  if (canEmulate) {
    await check('does not move with prefers-reduced-motion', () =>
      checkRest(driver, `${url}${path}`),
    );
    await check('says that it does not start', () => checkNoScript(driver, `${url}${path}`));
    await check('has no barrier that axe-core finds', () => checkAxe(driver, `${url}${path}`));
  }
  await check('opens with drawn digits', () => driver.open(address));
  await check('trains, pauses, resumes, stops', () => checkTraining(driver));
  await check('shows what flows through the network', () => checkPicture(driver));
  await check('explains itself in six steps', () => checkTour(driver));
  await check('recognizes a seven drawn by keyboard', () => checkDrawing(driver));
  await check('looks into models, and reads photos', () => checkInspector(driver));
  if (modelsAbsent) report.skip('playground: looks into Keras models', modelsAbsent);
  else await check('looks into Keras models', () => checkKeras(driver));
  await check('edits the network as layers', () => checkLayers(driver));
  await check('edits the network as code', () => checkCode(driver));
  await check('saves, loads, downloads, uploads', () => checkSaving(driver));
  await check('builds the selected module', () => checkModule(driver));
  await check('compares with TensorFlow.js', () => checkComparison(driver));
  await check('reads CSV files', () => checkTables(driver));
  await check('draws a border in the plane', () => checkPlane(driver));
  if (mnistAbsent) report.skip('playground: reads idx files', mnistAbsent);
  else await check('reads idx files', () => checkIdx(driver, url));
  await check('works by keyboard', () => checkKeyboard(driver));
  await check('fits a phone', () => checkPhone(driver));
  await check('survives mishaps and a reload', () => checkMishaps(driver, address));
  if (canEmulate) await check('works offline', () => checkOffline(driver, address));
  await check('reports what the browser supports', () =>
    checkFeatures(driver, `${plain}${path}&train=no`),
  );
}
