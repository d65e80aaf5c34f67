/** The barriers between an engine's programs and the rest of the machine, each with what it prevents. */
export const barrierMeanings = {
  environment: 'they see no variables of the service',
  user: 'they run as a user of their own, to whom the files and processes of all others are closed',
  processes: 'they see no processes but their own',
  mounts: 'they see a file tree that holds only the system, the code and the work folder',
  files: 'Landlock opens to them only the system, the code and the work folder, and no process outside',
  network: 'they have a network of their own that leads nowhere',
  ipc: 'they share no memory or message queues with other processes',
  calls: 'seccomp refuses calls that look into processes or change the machine, and sockets if the engine needs none',
  privileges: 'they have no capabilities and can gain none',
  orphans: 'whatever they leave behind is found and ended',
  limits: 'their processor time, file size, number of processes and core dumps are limited',
} as const;

export type Barrier = keyof typeof barrierMeanings;

export type Barriers = Record<Barrier, { stands: true } | { stands: false; reason: string }>;

const names = Object.keys(barrierMeanings).filter((name): name is Barrier => name in barrierMeanings);

/** Returns the state of every barrier from the reasons for those that are absent. */
export function barriersFrom(absent: Partial<Record<Barrier, string>>): Barriers {
  const states = names.map((name) => {
    const reason = absent[name];
    return [name, reason === undefined ? { stands: true } : { stands: false, reason }];
  });
  return Object.fromEntries(states);
}

/** Returns the state of a system on which the clean environment is the only barrier. */
export function noBarriers(reason: string): Barriers {
  return barriersFrom(Object.fromEntries(names.filter((name) => name !== 'environment').map((name) => [name, reason])));
}

/**
 * The goals of isolation, each with the barriers that achieve it: any one of a row suffices. Other barriers only make a breach
 * harder, so a deployment that demands isolation does not require them.
 */
const essentials: { protects: string; by: Barrier[]; onlyWithoutNetwork?: boolean }[] = [
  { protects: 'files outside the work folder', by: ['mounts', 'files'] },
  { protects: 'the memory and environment of other processes', by: ['processes', 'user', 'files'] },
  { protects: 'the kernel', by: ['calls'] },
  { protects: 'the network', by: ['network', 'calls'], onlyWithoutNetwork: true },
];

/** Returns the goals that no barrier achieves, each with the reasons. Empty if the isolation is complete. */
export function unprotected(barriers: Barriers, { network }: { network: boolean }): string[] {
  return essentials
    .filter(
      ({ by, onlyWithoutNetwork }) => !(network && onlyWithoutNetwork) && !by.some((name) => barriers[name].stands),
    )
    .map(({ protects, by }) => `${protects} (${by.map((name) => reasonOf(barriers, name)).join('; ')})`);
}

function reasonOf(barriers: Barriers, name: Barrier): string {
  const barrier = barriers[name];
  return `${name}: ${barrier.stands ? 'stands' : barrier.reason}`;
}
