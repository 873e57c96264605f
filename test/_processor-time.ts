/** The processor time of this process that work takes, in milliseconds. What a busy machine gives to others doesn't count. */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
