import { useSignal } from '@preact/signals';
import { durationText } from '../format.ts';
import { useLoaded } from '../parts/load.ts';
import { Empty } from '../parts/notice.tsx';
import { Figures, Table, View } from '../parts/view.tsx';
import { session } from '../service/session.ts';
import type { Usage as UsageData } from '../service/types.ts';

const dayMs = 86_400_000;
const dayText = (time: number) => new Date(time).toISOString().slice(0, 10);

/** Shows the conversion time used, and its limits. */
export function Usage() {
  const days = useSignal(30);
  const today = Date.now();
  const query = new URLSearchParams({ from: dayText(today - (days.value - 1) * dayMs), to: dayText(today) });
  const loaded = useLoaded<UsageData>(`/v1/account/usage?${query}`);
  return (
    <View title="Usage" lead="Conversion time does not include waiting and file transfers." from={loaded}>
      {(usage) => (
        <>
          <Totals usage={usage} />
          <div class="card stack">
            <div class="row apart">
              <h2>By day</h2>
              <div class="row">
                <label for="days">Show</label>
                <select
                  id="days"
                  value={String(days.value)}
                  onChange={({ currentTarget }) => {
                    days.value = Number(currentTarget.value);
                  }}
                >
                  {[7, 30, 90].map((each) => (
                    <option key={each} value={each}>{`${each} days`}</option>
                  ))}
                </select>
              </div>
            </div>
            {usage.tasks === 0 ? (
              <Empty title="No usage yet">
                <p>
                  <a href="/">Convert a file</a> to see it here.
                </p>
              </Empty>
            ) : (
              <section
                class="scroll"
                aria-label="Chart"
                // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
                tabIndex={0}
              >
                <Chart usage={usage} />
              </section>
            )}
          </div>
          {usage.tasks > 0 && <Formats usage={usage} />}
        </>
      )}
    </View>
  );
}

function Totals({ usage: { conversionSeconds, tasks, month } }: { usage: UsageData }) {
  const limits = session.value.state === 'in' ? session.value.me.rateLimits : undefined;
  const rows: [string, string][] = [
    ['Conversion time', durationText(conversionSeconds)],
    ['Tasks', String(tasks)],
    [
      'Left this month',
      month.remainingMinutes === null
        ? 'Unlimited'
        : `${month.remainingMinutes.toFixed(1)} of ${month.allowanceMinutes} min`,
    ],
    ['Requests per minute', String(limits?.requestsPerMinute ?? 'Unlimited')],
  ];
  return <Figures class="card figures" rows={rows} />;
}

/** Narrow windows have a narrower drawing, so that its text stays as large. */
const narrow = matchMedia('(max-width: 40rem)');
const size = { height: 240, left: 56, bottom: 28, top: 12 };

function Chart({ usage }: { usage: UsageData }) {
  const width = narrow.matches ? 360 : 900;
  const used = new Map(usage.days.map(({ date, conversionSeconds }) => [date, conversionSeconds]));
  const first = Date.parse(usage.from);
  const count = Math.round((Date.parse(usage.to) - first) / dayMs) + 1;
  const dates = Array.from({ length: count }, (_, index) => dayText(first + index * dayMs));
  const most = Math.max(...used.values(), 0.001);
  const step = (width - size.left) / count;
  const floor = size.height - size.bottom;
  const heightOf = (seconds: number) => (seconds / most) * (floor - size.top);
  const every = Math.ceil(count / (width / 110));
  const busiest = [...used].sort(([, a], [, b]) => b - a)[0]?.[0] ?? '';
  return (
    <svg
      class="chart"
      viewBox={`0 0 ${width} ${size.height}`}
      role="img"
      aria-label={`Conversion time by day from ${usage.from} to ${usage.to}: ${durationText(usage.conversionSeconds)} in total, at most ${durationText(most)} on ${busiest}.`}
    >
      {[0, 0.5, 1].map((share) => (
        <g key={share}>
          <line x1={size.left} x2={width} y1={floor - heightOf(most * share)} y2={floor - heightOf(most * share)} />
          <text x={size.left - 8} y={floor - heightOf(most * share) + 4} text-anchor="end">
            {durationText(most * share)}
          </text>
        </g>
      ))}
      {dates.map((date, index) => {
        const seconds = used.get(date) ?? 0;
        return (
          <g key={date}>
            <rect
              class="value"
              x={size.left + index * step + step * 0.15}
              y={floor - heightOf(seconds)}
              width={step * 0.7}
              height={heightOf(seconds)}
              rx={Math.min(3, step * 0.2)}
            >
              <title>{`${date}: ${durationText(seconds)}`}</title>
            </rect>
            {index % every === 0 && (
              <text x={size.left + (index + 0.5) * step} y={size.height - 8} text-anchor="middle">
                {date.slice(5)}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

function Formats({ usage }: { usage: UsageData }) {
  const sums = new Map<string, { seconds: number; tasks: number }>();
  for (const { input_format, output_format, conversionSeconds, tasks } of usage.days.flatMap(
    ({ formats }) => formats,
  )) {
    const name = `${input_format || '–'} → ${output_format || '–'}`;
    const { seconds: before = 0, tasks: earlier = 0 } = sums.get(name) ?? {};
    sums.set(name, { seconds: before + conversionSeconds, tasks: earlier + tasks });
  }
  const rows = [...sums].sort(([, a], [, b]) => b.seconds - a.seconds).slice(0, 20);
  return (
    <Table label="Usage by format" columns={['Formats', 'Tasks', 'Conversion time']} rows={rows}>
      {([name, { seconds, tasks }]) => (
        <tr key={name}>
          <td>{name}</td>
          <td class="number">{tasks}</td>
          <td class="number">{durationText(seconds)}</td>
        </tr>
      )}
    </Table>
  );
}
