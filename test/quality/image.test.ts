import { join } from 'node:path';
import { program } from '../engines/image/programs.ts';
import { type QualityCase, testQuality } from './case.ts';
import { only, tags } from './readers.ts';

const cases: QualityCase[] = [
  {
    name: 'a JPEG at 300 dpi becomes a PNG at 300 dpi',
    input: async (folder) => {
      const path = join(folder, 'dots.jpg');
      await program('/usr/bin/convert', '-size', '64x64', 'xc:red', '-density', '300', '-units', 'PixelsPerInch', path);
      return path;
    },
    to: 'png',
    read: only(tags('PixelsPerUnitX', 'PixelUnits')),
    expected: { PixelsPerUnitX: 11811, PixelUnits: 1 },
    usual: true,
  },
];

testQuality(cases);
