import { spawnSync } from 'node:child_process';
import t from 'tap';

import { TOLERATE_MISSING_PROC } from '../../../src/server/process/memory-usage.ts';

t.test('where /proc is missing, a process still says how much memory it uses', async (t) => {
  const missing = `process.memoryUsage = () => { throw new Error('ENOENT: uv_resident_set_memory') }`;
  const options = [`--import=data:text/javascript,${encodeURIComponent(missing)}`, ...TOLERATE_MISSING_PROC];
  const asked = 'process.memoryUsage().heapUsed > 1_000_000 && process.memoryUsage.rss() === 0';
  const { stdout, stderr } = spawnSync(process.execPath, [...options, '-p', asked], { encoding: 'utf8' });
  t.strictSame({ stdout, stderr }, { stdout: 'true\n', stderr: '' });
});
