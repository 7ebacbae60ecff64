/** CPU time of a process and all its descendants, from /proc: 0 where there is none. */
import { readdirSync, readFileSync } from 'node:fs';

const msPerTick = 10;

/** Parent and ticks of a process; undefined when it has ended. */
function readStat(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return undefined;
  }
}

export function cpuTimeOfTree(rootPid) {
  let names;
  try {
    names = readdirSync('/proc');
  } catch {
    return 0;
  }
  const stats = new Map();
  for (const name of names) {
    const stat = /^\d+$/.test(name) && readStat(name);
    if (stat) stats.set(Number(name), stat);
  }
  const belongs = (pid) => pid === rootPid || (stats.has(pid) && belongs(stats.get(pid).parent));
  let ticks = 0;
  for (const [pid, stat] of stats) if (belongs(pid)) ticks += stat.ticks;
  return ticks * msPerTick;
}
