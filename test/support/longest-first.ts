import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, most of it in waits for timers: begun last, one of them would run alone at the end. */
const longest = [
  'faults/lost-work',
  'contract/openapi',
  'events/many-deliveries',
  'events/follow',
  'events/chaos',
  'engines/media/options',
  'engines/document/matrix-subset',
  'stack/slice',
  'events/webhooks',
  'stack/retention',
  'engines/document/options',
  'engines/media/matrix-subset',
  'engines/webpage/options',
  'engines/new-engine',
].map((name) => `/test/${name}.test.ts`);

/** Starts the longest files first, and the others in Vitest's own order. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = longest.findIndex((name) => moduleId.endsWith(name));
      return found === -1 ? longest.length : found;
    };
    return (await super.sort(files)).toSorted((left, right) => rank(left) - rank(right));
  }
}
