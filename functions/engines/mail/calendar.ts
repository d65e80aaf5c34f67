const maxEvents = 20;

/** Labels of the methods of an invitation (RFC 5546). */
const methods: Record<string, string> = {
  REQUEST: 'Invitation',
  CANCEL: 'Cancellation',
  REPLY: 'Response to an invitation',
  COUNTER: 'Proposal of another time',
};

interface Line {
  name: string;
  parameters: string;
  value: string;
}

/** Describes the events of a calendar file (RFC 5545) as text; undefined if it has none. */
export function describeCalendar(text: string): string | undefined {
  const lines = text
    .slice(0, 2_000_000)
    .replaceAll(/\r?\n[ \t]/g, '')
    .split(/\r?\n/)
    .map(parseLine);
  const method = lines.find(({ name }) => name === 'METHOD')?.value.toUpperCase() ?? '';
  const events: Line[][] = [];
  let inner = 0;
  for (const line of lines) {
    const component = line.value.toUpperCase();
    if (line.name === 'BEGIN' && component === 'VEVENT') events.push([]);
    else if (line.name === 'BEGIN' && component === 'VALARM') inner += 1;
    else if (line.name === 'END' && component === 'VALARM') inner -= 1;
    else if (inner === 0) events.at(-1)?.push(line);
  }
  const described = events.slice(0, maxEvents).map((event) => describeEvent(event, methods[method] ?? 'Event'));
  if (events.length > maxEvents) described.push(`and ${events.length - maxEvents} more events`);
  return described.length > 0 ? described.join('\n\n') : undefined;
}

function parseLine(line: string): Line {
  const [, name = '', parameters = '', value = ''] = /^([\w-]+)((?:;(?:[^":;]|"[^"]*")*)*):(.*)$/.exec(line) ?? [];
  return { name: name.toUpperCase(), parameters, value };
}

function describeEvent(lines: Line[], kind: string): string {
  const all = (name: string) => lines.filter((line) => line.name === name);
  const text = (name: string) =>
    all(name)[0]
      ?.value.replaceAll(/\\n/gi, '\n')
      .replaceAll(/\\([,;\\])/g, '$1')
      .trim();
  const people = (name: string) => all(name).slice(0, 50).map(person).join(', ');
  const [start, end] = ['DTSTART', 'DTEND'].map((name) => all(name)[0]).map((line) => line && momentOf(line));
  const rows = [
    ['When', [start, end].filter((moment) => moment !== undefined).join(' – ')],
    ['Where', text('LOCATION')],
    ['Repeats', text('RRULE')],
    ['Organizer', people('ORGANIZER')],
    ['Attendees', people('ATTENDEE')],
    ['Status', text('STATUS')?.toLowerCase()],
  ];
  const shown = rows.flatMap(([label, value]) => (value ? [`${label}: ${value}`] : []));
  const description = text('DESCRIPTION');
  return [`${kind}: ${text('SUMMARY') ?? '(no title)'}`, ...shown, ...(description ? ['', description] : [])].join(
    '\n',
  );
}

function person({ parameters, value }: Line): string {
  const name = /;CN=(?:"([^"]*)"|([^;:]*))/i.exec(parameters);
  const state = /;PARTSTAT=([\w-]+)/i.exec(parameters)?.[1]?.toLowerCase();
  const address = value.replace(/^mailto:/i, '');
  const label = name?.[1] ?? name?.[2];
  const who = label && label !== address ? `${label} <${address}>` : address;
  return state && state !== 'needs-action' ? `${who} (${state})` : who;
}

/** Formats a date or time, with its zone if it has one. */
function momentOf({ parameters, value }: Line): string | undefined {
  const match = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})\d{2}(Z)?)?/.exec(value);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, utc] = match;
  const zone = utc ? 'UTC' : /;TZID=(?:"([^"]*)"|([^;:]*))/i.exec(parameters)?.slice(1).find(Boolean);
  return `${year}-${month}-${day}${hour ? ` ${hour}:${minute}` : ''}${hour && zone ? ` (${zone})` : ''}`;
}
