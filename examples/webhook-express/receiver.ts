import { DatabaseSync } from 'node:sqlite';
import express from 'express';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

/** The part of an event that this program uses; `data` is the job as the API returns it. */
interface JobEvent {
  type: 'job.created' | 'job.completed' | 'job.failed';
  timestamp: string;
  data: {
    id: string;
    tag?: string;
    result: { errorCode?: string; msg?: string };
    /** Absent if the job is larger than 300 KB; fetch it by its id then. */
    tasks?: { name: string; operation: string; result: { files?: { url: string; filename: string }[] } }[];
  };
}

const { WEBHOOK_SECRET, DATABASE = 'webhooks.sqlite', PORT = '4000' } = process.env;
if (!WEBHOOK_SECRET) throw new Error('Expected the secret of the webhook in WEBHOOK_SECRET.');
const webhook = new Webhook(WEBHOOK_SECRET);

const database = new DatabaseSync(DATABASE);
database.exec(`
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS events (
    id TEXT PRIMARY KEY,
    body TEXT NOT NULL,
    received_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    handled_at TEXT
  )`);
const store = database.prepare('INSERT INTO events (id, body) VALUES (?, ?) ON CONFLICT (id) DO NOTHING');
const pending = database.prepare('SELECT id, body FROM events WHERE handled_at IS NULL ORDER BY rowid LIMIT 1');
const finish = database.prepare('UPDATE events SET handled_at = CURRENT_TIMESTAMP WHERE id = ?');

/** Your code. It runs again for the same event if the process ends before it has finished. */
async function handle({ type, data }: JobEvent): Promise<void> {
  if (type === 'job.created') return;
  const { errorCode, msg } = data.result;
  const links = data.tasks?.flatMap(({ result }) => result.files ?? []).map(({ url }) => url) ?? [];
  console.log(type, data.id, ...(type === 'job.failed' ? [errorCode, msg] : links));
}

let working: Promise<void> | undefined;

/** Handles the stored events one after the other. */
async function work(): Promise<void> {
  for (let row = pending.get(); row; row = pending.get()) {
    await handle(JSON.parse(String(row.body)));
    finish.run(String(row.id));
  }
}

function wake(): void {
  working ??= work()
    .catch((error: unknown) => {
      console.error(error);
      setTimeout(wake, 10_000).unref();
    })
    .finally(() => {
      working = undefined;
    });
}

const app = express();
// The signature is of the body as it was received, so it must not be parsed before. Bodies have at most 300 KB and a little.
app.post('/', express.raw({ type: 'application/json', limit: '1mb' }), (request, response) => {
  const body = Buffer.isBuffer(request.body) ? request.body.toString('utf8') : '';
  const id = request.get('webhook-id') ?? '';
  try {
    webhook.verify(body, {
      'webhook-id': id,
      // Messages of more than five minutes ago are refused, so a recorded request cannot be sent again later.
      'webhook-timestamp': request.get('webhook-timestamp') ?? '',
      'webhook-signature': request.get('webhook-signature') ?? '',
    });
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    response.status(401).send(error.message);
    return;
  }
  // A delivery that comes twice, or is replayed within the five minutes, has the same id. It is stored before it is
  // acknowledged, and handled afterwards: the service waits for at most 15 seconds.
  store.run(id, body);
  response.sendStatus(204);
  wake();
});

const server = app.listen(Number(PORT), (error) => {
  if (error) throw error;
  console.log(`Receiving webhooks on port ${PORT}`);
  wake(); // what an earlier run has stored and not handled
});

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    server.close(async () => {
      await working;
      database.close();
    });
  });
