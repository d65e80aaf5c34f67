import { durationText } from '../format.ts';
import type { Task } from '../service/types.ts';

type Parts = NonNullable<Task['result']['parts']>;

/** Shows the parts of a split task as a row of cells: those that are done, then those in progress, then the rest. */
export function PartCells({ parts: { total, done, running, seconds_left } }: { parts: Parts }) {
  const stateOf = (index: number) => (index < done ? 'done' : index < done + running ? 'running' : 'waiting');
  const left = seconds_left === undefined ? '' : `, about ${durationText(seconds_left)} left`;
  return (
    <>
      <div class="part-cells" role="img" aria-label={`${done} of ${total} parts done, ${running} in progress`}>
        {Array.from({ length: total }, (_, index) => (
          <span key={index} class={stateOf(index)} />
        ))}
      </div>
      <span class="small quiet">{`${done} of ${total} parts${left}`}</span>
    </>
  );
}
