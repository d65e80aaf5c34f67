/** The resources a job takes from its engine. */
export interface TypicalJob {
  name: string;
  engine: 'image' | 'media' | 'document' | 'webpage';
  /** Processor time. */
  cpuSeconds: number;
  /** The number of cores that can share it. */
  cores: number;
  inputBytes: number;
  outputBytes: number;
}

/**
 * Photo and web page are measured on the date below, on two shared cores of an Intel Xeon, so in processor time: `npm
 * run bench -- typical-jobs`, the median of 3. The document is two runs of a newly started `soffice` on a file of 9
 * pages, as after a change of account; a warm one took a tenth.
 *
 * Video is measured in the same way on 3 seconds of it, and multiplied to 5 minutes: a scene of an animated film with
 * sensor grain, 1080p at 30 frames a second, from H.264 at 7.7 Mbit/s, with the engine's defaults, including sound
 * (`npm run bench -- video`). The 3 runs of WebM took 451 to 544 seconds, those of MP4 454 to 542. Its cores are the
 * CPU time of the program divided by that of its busiest thread; its sizes are those of the outputs.
 *
 * Calls are counted. The following are assumptions: other sizes of files and cores, milliseconds, bytes per second,
 * table units per call, new environments and their INIT, jobs per hour, bytes of logs and the mean size of an image.
 */
export const measurements = {
  date: '2026-11-16',
  jobs: [
    jobOf('photo, 1 MB png to webp', 'image', { cpuSeconds: 0.15, cores: 1, inputBytes: 1e6, outputBytes: 0.2e6 }),
    jobOf('10 pages, docx to pdf', 'document', { cpuSeconds: 1.75, cores: 1, inputBytes: 50e3, outputBytes: 100e3 }),
    jobOf('5 minutes of 1080p to mp4', 'media', { cpuSeconds: 466, cores: 6, inputBytes: 300e6, outputBytes: 176e6 }),
    jobOf('5 minutes of 1080p to webm', 'media', {
      cpuSeconds: 471,
      cores: 4.7,
      inputBytes: 300e6,
      outputBytes: 246e6,
    }),
    jobOf('web page to pdf', 'webpage', { cpuSeconds: 1.44, cores: 1, inputBytes: 100e3, outputBytes: 200e3 }),
  ],
  /** A client's requests for one job in addition to its waits: creation and download. */
  requests: { count: 2, milliseconds: 60, responseBytes: 3e3 },
  /** Pauses between the reads of a wait, as in functions/api/http/wait-until.ts: a tenth of the elapsed time. */
  waits: { minPauseSeconds: 0.04, maxPauseSeconds: 2, pausePart: 0.1 },
  /** The first load of the page: document, script, style and icon, with their gzipped sizes. */
  firstLoad: { requests: 4, documents: 1, bytes: 25e3 },
  /** Between a function and the bucket, in each direction. */
  bytesPerSecond: 80e6,
  /**
   * For one job of an upload, a conversion and an export without subscribers, as counted by `npm run bench -- jobs`.
   * SQS requests: a message to the worker, and two receives and two deletes, of that message and of the file's
   * notification. S3 requests: the file, its copy, the output and two copies of that. Invocations: importer, worker and
   * engine.
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
   * The average of a sweep that finds nothing: queries of 16 shards in 150 ms at half a unit each, since indexes are
   * never read consistently; in every eighth run the same for connections to ping; in every tenth a receive of one
   * second on each of 8 dead-letter queues; in every twentieth a list of each of 5 prefixes.
   */
  sweep: { milliseconds: 150 + 1000 / 10, dynamodbReads: (16 + 1 / 8) / 2, sqsReceives: 8 / 10, s3Lists: 5 / 20 },
  /** Per hour, for a connection that receives no events. A Socket.IO client responds to each ping. */
  idleConnection: { pings: 60 / 8, milliseconds: 5 },
  /** Share of jobs that start a new environment for their account, as in the example on Lambda's pricing page. */
  newEnvironments: 0.02,
  /**
   * Seconds of INIT: Node and a bundle, or an image with its sandbox as well. AWS reports that less than one in a
   * hundred invocations of shared functions starts an environment.
   */
  init: { share: 0.01, zipSeconds: 0.3, engineSeconds: 1 },
  /**
   * A split run: assumptions, except for the speeds of encoders, which its simulation takes from the media engine, and for the
   * packets of MP4 and the joining. Those are measured in processor time, on 43,143 packets of ten minutes and on 100 chunks of 2 GB
   * with their sound. A chunk has an overhead because it decodes up to five seconds more than it encodes, and fetches some more
   * before and after those.
   */
  split: {
    keyframeSeconds: 2,
    chunkOverhead: 1.1,
    rollSeconds: 10.5,
    firstMediaBytes: 8 * 1024 * 1024,
    indexBytesPerPacket: 10.6,
    listedPacketsPerSecond: 65_000,
    /** Of AAC. */
    soundPacketsPerSecond: 47,
    /** One request after another, each for the header of a box. */
    headerSeconds: 0.3,
    /** A chunk lists its packets before it is encoded. */
    checkSeconds: 0.3,
    readBytesPerSecond: 300e6,
    /** Chunks are read one after another, and each is opened in a few hundredths of a second. */
    joinBytesPerSecond: 280e6,
    /** Fetched at once: of the first of them, none is complete before the others. */
    joinReads: 8,
    /** The front of the output and its last parts are stored when it is complete. */
    joinFrontBytes: 8 * 1024 * 1024,
    joinLastParts: 2,
    joinParts: 100,
    /** Lambda itself starts a thousand environments of a function in ten seconds. */
    startsPerSecond: 25,
    keepSeconds: 0.5,
    queueSeconds: 1,
  },
  /** Of one kind. Metrics are billed by the hours with values, so with fewer jobs each one costs more. */
  jobsPerHour: 100,
  /** A run writes one line of metrics, in addition to its other lines. */
  metricsLineBytes: 580,
  /** One line for each request. */
  accessLogBytes: 220,
  logBytesPerInvocation: 700,
  /** Mean compressed size of the engines' images, which have 92 to 544 MB. */
  imageGigabytes: 0.3,
} as const;

function jobOf(name: string, engine: TypicalJob['engine'], takes: Omit<TypicalJob, 'name' | 'engine'>): TypicalJob {
  return { name, engine, ...takes };
}
