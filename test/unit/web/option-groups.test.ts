import { expect, test } from 'vitest';
import { engineCatalogues } from '../../../functions/catalogue/catalogues.ts';
import { groupOptions, labelsOf } from '../../../web/src/convert/option-groups.ts';
import type { Option } from '../../../web/src/service/types.ts';

const option = (name: string, label?: string): Option => ({
  name,
  ...(label === undefined ? {} : { label }),
  data_type: 'string',
  type: 'string',
  default_value: '',
  hint: '',
  conditions: [],
});

test('no two fields of any conversion have one label', () => {
  const capabilities = engineCatalogues.flatMap(({ capabilities: own }) => own);
  expect(capabilities.length).toBeGreaterThan(50);
  for (const { operation, from, to, options } of capabilities) {
    const groups = groupOptions(
      options.map(({ name, label }) => option(name, label)),
      {},
    );
    const labels = [...labelsOf(groups).values()].map((label) => label.toLowerCase());
    expect(labels, `${operation} ${from[0]} to ${to[0]}`).toEqual([...new Set(labels)]);
  }
});

test('options are grouped by what they concern', () => {
  const names = ['video_codec', 'audio_bitrate', 'trim_start', 'strip', 'sample_rate', 'audio_frequency'];
  const groups = groupOptions(
    names.map((name) => option(name)),
    {},
  );
  expect(groups.map(({ title, options }) => [title, options.map(({ name }) => name)])).toEqual([
    ['Basic', ['trim_start']],
    ['Video', ['video_codec']],
    ['Audio', ['audio_bitrate', 'audio_frequency']],
    ['Advanced', ['strip']],
  ]);
});

test('an option that repeats another is shown if it has a value', () => {
  const options = [option('quality', 'Quality'), option('jpg_convert_compression_level', 'Quality')];
  const groups = groupOptions(options, { jpg_convert_compression_level: 80 });
  expect([...labelsOf(groups).values()]).toEqual(['Quality (Quality)', 'Quality (Jpg convert compression level)']);
});
