import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest files: started last, one of them would run alone at the end. Files that start services, which wait for
 * timers and then need all cores, alternate with those that keep one core busy.
 */
const longest = [
  'engines/pdf/hostile',
  'faults/batch',
  'faults/lost-work',
  'events/follow',
  'engines/document/hostile-references',
  'engines/media/options',
  'faults/left-to-the-sweep',
  'contract/openapi',
  'lambda/runtime',
  'stack/minutes',
  'faults/many-deliveries',
  'engines/media/matrix-subset',
  'faults/chaos',
  'engines/image/options',
  'faults/workers',
  'engines/image/hostile',
  'stack/slice',
  'engines/document/options',
  'events/webhooks',
  'engines/webpage/options',
  'gate/misbehaving',
  'stack/long-work',
  'web/page',
  'commands/misbehaving/jobs',
  'engines/document/matrix-subset',
  'engines/ebook/matrix-subset',
  'stack/retention',
  'security/planted-program',
  'infra/images/context',
  'stack/text-and-size',
  'infra/checks',
  'transfers/service',
  'engines/image/matrix-subset',
  'client/service',
  'engines/new-engine',
  'contract/document',
].map((name) => `/test/${name}.test.ts`);

/** Projects whose files share a service. */
const sharing = ['contract', 'one service'];

/**
 * Starts the longest files first, and the others in Vitest's own order. Those that share a service are consecutive,
 * alternating with the rest: later, the service would have ended its idle processes, and would have to start them
 * again.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = longest.findIndex((name) => moduleId.endsWith(name));
      return found === -1 ? longest.length : found;
    };
    const sorted = (await super.sort(files)).toSorted((left, right) => rank(left) - rank(right));
    const together = sharing.flatMap((name) => sorted.filter(({ project }) => project.name === name));
    const rest = sorted.filter(({ project }) => !sharing.includes(project.name));
    return [
      ...rest.flatMap((file, index) => [file, ...together.slice(index, index + 1)]),
      ...together.slice(rest.length),
    ];
  }
}
