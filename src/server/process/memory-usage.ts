import { getHeapStatistics } from 'node:v8';

/**
 * Node options that let a process or thread run where `/proc` isn't mounted, as in a bare chroot. After each task, tinypool
 * asks for the memory usage, which Node reads from `/proc`; the error would end the process.
 */
export const TOLERATE_MISSING_PROC = [`--import=${import.meta.url}`];

try {
  process.memoryUsage();
} catch {
  const usage = () => {
    const {
      used_heap_size: heapUsed,
      total_heap_size: heapTotal,
      external_memory: external,
    } = getHeapStatistics();
    return { rss: 0, heapTotal, heapUsed, external, arrayBuffers: 0 };
  };
  process.memoryUsage = Object.assign(usage, { rss: () => 0 });
}
