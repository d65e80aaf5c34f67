/** Processor time, and how many cores can share it. */
interface Phase {
  cpuSeconds: number;
  cores: number;
}

/** What a job asks of its engine. */
export interface TypicalJob {
  name: string;
  engine: 'image' | 'media' | 'document' | 'webpage';
  phases: readonly Phase[];
  inputBytes: number;
  outputBytes: number;
}

/**
 * Photo and web page are measured on the date below, on two cores of an Intel Xeon that others used as well, so in processor
 * time: `npm run bench -- typical-jobs`, the median of 3. The document is two runs of a `soffice` started for a file of 9
 * pages, as one is when the account changes; warm it took a tenth.
 *
 * Video is measured in the same way on 3 seconds of it, and multiplied to 5 minutes: a scene of an animated film with the
 * grain of a sensor, 1080p at 30 frames a second, from H.264 at 7.7 Mbit/s, by the defaults of the engine, sound included
 * (`npm run bench -- video`). The 3 runs of WebM took 451 to 544 seconds, those of MP4 454 to 542. Its cores are the CPU time
 * of the program divided by that of its busiest thread; its sizes are those of the outputs.
 *
 * Calls are counted. Other sizes of files and cores, milliseconds, bytes a second, units of the table for each call, new
 * environments and their INIT, jobs in an hour, bytes of logs and the mean size of an image are assumptions.
 */
export const measurements = {
  date: '2026-11-16',
  jobs: [
    {
      name: 'photo, 1 MB png to webp',
      engine: 'image',
      phases: [{ cpuSeconds: 0.15, cores: 1 }],
      inputBytes: 1e6,
      outputBytes: 0.2e6,
    },
    {
      name: '10 pages, docx to pdf',
      engine: 'document',
      phases: [{ cpuSeconds: 1.75, cores: 1 }],
      inputBytes: 50e3,
      outputBytes: 100e3,
    },
    {
      name: '5 minutes of 1080p to mp4',
      engine: 'media',
      phases: [{ cpuSeconds: 466, cores: 6 }],
      inputBytes: 300e6,
      outputBytes: 176e6,
    },
    {
      name: '5 minutes of 1080p to webm',
      engine: 'media',
      phases: [{ cpuSeconds: 471, cores: 4.7 }],
      inputBytes: 300e6,
      outputBytes: 246e6,
    },
    {
      name: 'web page to pdf',
      engine: 'webpage',
      phases: [{ cpuSeconds: 1.44, cores: 1 }],
      inputBytes: 100e3,
      outputBytes: 200e3,
    },
  ] satisfies TypicalJob[],
  /** Requests of a client for one job in addition to its waits: it is created, and its file downloaded. */
  requests: { count: 2, milliseconds: 60, responseBytes: 3e3 },
  /** Pauses between the reads of a wait, as in functions/api/http/wait-until.ts: a tenth of the time that the work has taken. */
  waits: { minPauseSeconds: 0.04, maxPauseSeconds: 2, pausePart: 0.1 },
  /** The first load of the page: its document, script, style and icon, with their sizes in gzip. */
  firstLoad: { requests: 4, documents: 1, bytes: 25e3 },
  /** Between a function and the bucket. */
  bytesPerSecond: 80e6,
  /**
   * Of one job of an upload, a conversion and an export that nobody follows, as `npm run bench -- jobs` counts them. Requests of
   * SQS are a message to the worker, and two receives and two deletes, of that message and of the notification of the file; S3
   * gets the file, its copy, the output and two copies of that. Invocations are those of the importer, the worker and the engine.
   */
  calls: {
    dynamodbReads: 7,
    dynamodbWrites: 19,
    sqsRequests: 6,
    s3Writes: 5,
    s3Reads: 4,
    busEvents: 1,
    invocations: 3,
    milliseconds: 60,
  },
  /**
   * What one run of the sweep takes on average when it finds nothing: a query of each of 16 shards in 150 ms, which takes half
   * a unit since an index is never read consistently, in every eighth run the same of the connections to ping, in every fifth
   * a receive of one second on each of 8 dead-letter queues, and in every tenth a list of each of 5 prefixes.
   */
  sweep: { milliseconds: 150 + 1000 / 5, dynamodbReads: (16 + 1 / 8) / 2, sqsReceives: 8 / 5, s3Lists: 5 / 10 },
  /** Of a connection that receives no events, in an hour; a client of Socket.IO responds to each ping. */
  idleConnection: { pings: 60 / 8, milliseconds: 5 },
  /** Share of jobs that begin an environment of their account's own, as in the example of Lambda's pricing page. */
  newEnvironments: 0.02,
  /**
   * Seconds of INIT: Node and a bundle, or an image with its sandbox as well. Of invocations of functions that all accounts
   * share, AWS found less than one in a hundred to begin an environment.
   */
  init: { share: 0.01, zipSeconds: 0.3, engineSeconds: 1 },
  /** Of one kind. A metric is paid for by the hours in which it has values, so the fewer jobs, the more each of them costs. */
  jobsPerHour: 100,
  /** A run has one line with its metrics, in addition to the other lines. */
  metricsLineBytes: 580,
  /** One line for each request. */
  accessLogBytes: 220,
  logBytesPerInvocation: 700,
  /** Of the images of engines, compressed, each: they have 92 to 544 MB. */
  imageGigabytes: 0.3,
} as const;
