/** A message, whatever file it came from. */
export interface Message {
  from: string[];
  /** Who sent it for the author, if it was someone else. */
  sender: string[];
  to: string[];
  cc: string[];
  bcc: string[];
  replyTo: string[];
  subject: string;
  /** As the sender's clock showed it. */
  date: MailDate | undefined;
  id: string | undefined;
  /** Identifiers of the messages that it answers, the closest last. */
  references: string[];
  body: Block[];
  /** Pictures that the body may show, by content ID and by address. */
  pictures: Map<string, Picture>;
  attachments: Attachment[];
  /** What a reader has to know, such as that a signature was not verified. */
  notes: string[];
}

/** What the body consists of, in order. Text that has both forms has both, so that each output takes the one that it needs. */
export interface Block {
  html?: string;
  text?: string;
  picture?: Attachment;
  rtf?: Buffer;
}

export interface Picture {
  bytes: Buffer;
  attachment: Attachment;
}

export interface Attachment {
  /** Safe to show and to use as a file name. */
  name: string;
  mediaType: string;
  bytes: Buffer;
  /** A picture of the body, which is listed only if the body does not show it. */
  isInline: boolean;
  /** A message is parsed when its file is, because both count towards the same limits. */
  message?: Message;
  /** Why it has no content. */
  missing?: string;
}

export interface MailDate {
  /** Milliseconds since the epoch. */
  time: number;
  /** Minutes east of UTC. */
  offset: number;
}

/** Returns an empty message. */
export function emptyMessage(): Message {
  return {
    from: [],
    sender: [],
    to: [],
    cc: [],
    bcc: [],
    replyTo: [],
    subject: '',
    date: undefined,
    id: undefined,
    references: [],
    body: [],
    pictures: new Map(),
    attachments: [],
    notes: [],
  };
}

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
/** Zones that RFC 5322 knows by name, in hours. */
const zones: Record<string, number> = {
  ut: 0,
  gmt: 0,
  utc: 0,
  z: 0,
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
};

/** Parses a date of a header (RFC 5322) with its zone. */
export function parseDate(text: string): MailDate | undefined {
  const pattern =
    /(\d{1,2})[\s-]+([a-z]{3})[a-z]*[\s-]+(\d{2,4})[\s,]+(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?\s*(?:([+-])(\d{2}):?(\d{2})|([a-z]{1,4}))?/i;
  const match = pattern.exec(text.slice(0, 200));
  if (!match) {
    const time = Date.parse(text.slice(0, 100));
    return Number.isNaN(time) ? undefined : { time, offset: 0 };
  }
  const [, day, month = '', year = '', hour, minute, second = '0', sign, hours, minutes, zone = ''] = match;
  const index = months.indexOf(month.toLowerCase());
  if (index < 0) return undefined;
  const full = year.length === 2 ? Number(year) + (Number(year) < 50 ? 2000 : 1900) : Number(year);
  const offset = sign
    ? (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
    : (zones[zone.toLowerCase()] ?? 0) * 60;
  const local = Date.UTC(full, index, Number(day), Number(hour), Number(minute), Number(second));
  return Math.abs(offset) > 24 * 60 || Number.isNaN(local) ? undefined : { time: local - offset * 60_000, offset };
}

const shown = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

/** Formats a date as the sender's clock showed it, with its zone. */
export function formatDate({ time, offset }: MailDate): string {
  return `${shown.format(time + offset * 60_000)} (${zoneOf(offset, 'UTC')})`;
}

/** Formats a date as in RFC 3339. */
export function isoDate({ time, offset }: MailDate): string {
  const local = new Date(time + offset * 60_000).toISOString().slice(0, 19);
  return `${local}${zoneOf(offset) || 'Z'}`;
}

function zoneOf(offset: number, prefix = ''): string {
  if (offset === 0) return prefix;
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map((value) =>
    String(value).padStart(2, '0'),
  );
  return `${prefix}${offset < 0 ? '-' : '+'}${hours}:${minutes}`;
}
