import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PageSize } from '../../image/vector/pdf-pages.ts';
import type { Workspace } from '../../runtime/pdf-file.ts';
import type { Survey } from '../../runtime/protocol.ts';
import { type Drawing, drawPages, type ImageRequest, pixelsOf } from './pdf.ts';

/** A survey of pages, which have neither ranges of bytes nor a target size. */
export type PageSurvey = Omit<Survey, 'reads' | 'size'>;

/** Pages that are drawn to measure the time of all; at most one in so many, because they are drawn again. */
const maxSamples = 3;
const pagesPerSample = 16;
/** A page with pictures and transparency takes at most about this many times as long as one of text. */
const maxFactor = 10;
/** Seconds that a page of text takes: for the start of the program, and for each million pixels. */
const secondsPerPage = 0.03;
const secondsPerMegapixel: Record<ImageRequest['format'], number> = {
  png: 0.13,
  jpg: 0.015,
  webp: 0.23,
  tiff: 0.1,
  svg: 0,
  eps: 0,
};

/** Estimates how long it takes to draw pages. Draws some of them, if that may be longer than the given seconds. */
export async function surveyPages(drawing: Drawing, seconds: number, space: Workspace): Promise<PageSurvey> {
  const { pdf, pages, sizes, request } = drawing;
  const costs = pages.map((page) => costOf(sizes[page - 1], request));
  const usual = sum(costs);
  const factor = usual * maxFactor > seconds ? await sampleFactor(drawing, costs, space) : 1;
  const facts = { seconds: usual * factor, start: 0, end: 0, sound: false };
  if (request.format === 'tiff') return { ...facts, whole: 'A TIFF file holds all pages.' };
  return { ...facts, pages: pdf.pages };
}

/** Draws a few pages, and returns how many times as long as usual they took. */
async function sampleFactor(drawing: Drawing, costs: number[], space: Workspace): Promise<number> {
  const { pages } = drawing;
  const samples = samplesOf(pages.length);
  if (samples.length === 0) return 1;
  const folder = join(space.folder, 'samples');
  await mkdir(folder);
  const began = performance.now();
  const sampled = samples.flatMap((index) => pages[index] ?? []);
  await drawPages({ ...drawing, pages: sampled }, { ...space, folder, progress: () => {} });
  const took = (performance.now() - began) / 1_000;
  await rm(folder, { recursive: true });
  return took / sum(samples.map((index) => costs[index] ?? 0));
}

function costOf(size: PageSize | undefined, { format, dpi }: ImageRequest): number {
  return secondsPerPage + (size ? (pixelsOf(size, dpi) / 1_000_000) * secondsPerMegapixel[format] : 0);
}

/** Returns the indexes of sampled pages, spread evenly. */
function samplesOf(count: number): number[] {
  const samples = Math.min(maxSamples, Math.floor(count / pagesPerSample));
  return Array.from({ length: samples }, (_, index) => Math.floor(((index + 0.5) * count) / samples));
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
