import { type PictureFormat, pictureFormats } from '../../../shared/pictures/picture.ts';
import { type HttpError, invalidFields } from '../http/errors.ts';

/** No number needs more characters. */
const maxNumberLength = 32;
/** Characters of an argument that an error repeats. */
const shownLength = 50;

const integerForm = /^[+-]?\d+$/;
const numberForm = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const colorForm = /^(?:[\da-f]{3}|[\da-f]{6})$/i;

/** The forms of Go, in which imgproxy is written. */
const trueForms = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

/** imgproxy Pro has these formats too, and `best`, which tries several. */
const proFormats = new Set(['best', 'mp4', 'pdf', 'psd']);

/** Builds the 400 for an argument. */
export function unexpected(option: string, expectation: string, received: string): HttpError {
  const shown = received.length > shownLength ? `${received.slice(0, shownLength)}…` : received;
  return invalidFields({
    [option]: [`Expected ${expectation} but received ${JSON.stringify(shown.toWellFormed())}.`],
  });
}

/** Builds the 400 for a feature that only imgproxy Pro has. */
export function proOnly(option: string, feature: string): HttpError {
  return invalidFields({ [option]: [`${feature} is a feature of imgproxy Pro, which this service does not support.`] });
}

/** Parses an integer. */
export function integer(option: string, text: string, min: number, max: number): number {
  const value = text.length <= maxNumberLength && integerForm.test(text) ? Number(text) : Number.NaN;
  // NaN is not in any range.
  if (value >= min && value <= max) return value + 0;
  throw unexpected(option, `an integer from ${min} to ${max}`, text);
}

/** Parses a decimal number. */
export function decimal(option: string, text: string, min: number, max: number): number {
  const value = decimalOf(text);
  if (value >= min && value <= max) return value;
  throw unexpected(option, `a number from ${min} to ${max}`, text);
}

/** Parses a decimal number that must be greater than 0. */
export function positive(option: string, text: string, max: number): number {
  const value = decimalOf(text);
  if (value > 0 && value <= max) return value;
  throw unexpected(option, `a number greater than 0 and at most ${max}`, text);
}

function decimalOf(text: string): number {
  // The addition turns -0 into 0.
  return text.length <= maxNumberLength && numberForm.test(text) ? Number(text) + 0 : Number.NaN;
}

/** Parses a switch. Like in imgproxy, everything that is not true is false. */
export function flag(text: string): boolean {
  return trueForms.has(text);
}

/** Parses a colour of three or six hexadecimal digits. Returns six in lower case. */
export function color(option: string, text: string): string {
  if (!colorForm.test(text)) throw unexpected(option, 'a colour of 3 or 6 hexadecimal digits', text);
  const digits = text.toLowerCase();
  return digits.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits;
}

/** Parses one of several words. */
export function choice<T extends string>(option: string, text: string, words: readonly T[]): T {
  const word = words.find((candidate) => candidate === text);
  if (word === undefined) throw unexpected(option, `one of ${words.join(', ')}`, text);
  return word;
}

/** Parses the name of a format. */
export function format(option: string, text: string): PictureFormat {
  if (proFormats.has(text)) throw proOnly(option, `The format ${text}`);
  return text === 'jpeg' ? 'jpg' : choice(option, text, pictureFormats);
}
