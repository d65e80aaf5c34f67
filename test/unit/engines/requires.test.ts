import { describe, expect, test } from 'vitest';
import { engineCatalogues } from '../../../functions/catalogue/catalogues.ts';
import { Catalogue, type EngineCatalogue } from '../../../shared/catalogue/catalogue.ts';
import { processingOperations } from '../../../shared/operations/operations.ts';

function pairsOf(catalogue: Catalogue): string[] {
  return processingOperations.flatMap((operation) =>
    catalogue
      .inputs(operation, '*')
      .flatMap((from) => catalogue.outputs(operation, from).map((to) => `${operation} ${from} ${to}`)),
  );
}

function engineOf(name: string): EngineCatalogue {
  const engine = engineCatalogues.find((known) => known.engine === name);
  if (!engine) throw new Error(`There is no engine ${name}.`);
  return engine;
}

const alone = (name: string, ...missing: string[]) =>
  new Catalogue([engineOf(name)], { [name]: Object.fromEntries(missing.map((part) => [part, ''])) });

/** Lists the pairs that an engine loses without some components. */
function lost(name: string, ...missing: string[]): string[] {
  const left = new Set(pairsOf(alone(name, ...missing)));
  return pairsOf(alone(name)).filter((pair) => !left.has(pair));
}

const converting = engineCatalogues.filter(({ capabilities }) => capabilities.length > 0);

describe.each(converting.map((engine) => [engine.engine, engine] as const))('%s', (name, engine) => {
  const components = Object.keys(engine.components ?? {});

  test('requires only components that it has, and some of them for every pair', () => {
    const canonical = (ext: string) => engine.formats.find((format) => format.ext === ext)?.aliasOf ?? ext;
    const required = new Set(
      engine.capabilities.flatMap(({ operation, from, to }) =>
        from.flatMap((source) =>
          to.flatMap((target) => {
            const names = engine.requires?.(operation, canonical(source), canonical(target)) ?? [];
            return names.length > 0 ? names : [`nothing for ${operation} ${source} ${target}`];
          }),
        ),
      ),
    );
    expect([...required].filter((part) => !components.includes(part))).toEqual([]);
  });

  test('loses nothing when nothing is missing, and something with every component that a pair requires', () => {
    const whole = pairsOf(alone(name));
    expect(pairsOf(new Catalogue([engine], { [name]: {} }))).toEqual(whole);
    const harmless = components.filter((part) => pairsOf(alone(name, part)).length === whole.length);
    // What remains are encoders that only an option chooses.
    const values = new Set(
      engine.capabilities.flatMap(({ options }) => options.flatMap(({ enum_values = [] }) => enum_values)),
    );
    const chosen = new Set([...values].map(({ value }) => value));
    expect(harmless.filter((part) => !chosen.has(part))).toEqual([]);
  });

  test('is unusable when all is missing', () => {
    expect(alone(name, ...components).isUsable(name)).toBe(false);
  });
});

describe('images', () => {
  const bare = alone('image', 'gs', 'pdfinfo', 'pdftocairo', 'rsvg-convert');

  test('without any program are still converted by what npm brings', () => {
    expect(pairsOf(bare).length).toBeGreaterThan(1_500);
    for (const from of ['png', 'heic', 'webp', 'svg', 'psd', 'cr2', 'exr'])
      for (const to of ['jpg', 'webp', 'avif', 'tiff', 'ico']) expect(bare.find('convert', from, to)).toBeDefined();
    expect(bare.find('convert', 'png', 'pdf')).toBeDefined();
    expect(bare.find('convert', 'png', 'eps')).toBeDefined();
    expect(bare.find('merge', 'pdf', 'pdf')).toBeDefined();
  });

  test('without Ghostscript are read from no kind of PostScript', () => {
    const catalogue = alone('image', 'gs');
    for (const from of ['eps', 'epsf', 'epsi', 'ept', 'ps']) expect(catalogue.outputs('convert', from)).toEqual([]);
    expect(lost('image', 'gs').filter((pair) => !/^\w+ (?:eps|epsf|epsi|epi|ept|ps) /.test(pair))).toEqual([]);
  });

  test('without poppler become PDF from PostScript and are drawn from none', () => {
    const catalogue = alone('image', 'pdftocairo');
    expect(catalogue.outputs('convert', 'eps')).toEqual(['pdf']);
    expect(catalogue.inputs('merge', 'gif')).not.toContain('pdf');
    expect(catalogue.inputs('merge', 'pdf')).toContain('pdf');
  });

  test('without librsvg lose only the PDF of a drawing', () => {
    expect(lost('image', 'rsvg-convert').sort()).toEqual([
      'convert svg pdf',
      'convert svgz pdf',
      'merge svg pdf',
      'merge svgz pdf',
    ]);
  });
});

describe('sound and video', () => {
  test('are written by the encoders that are there', () => {
    const catalogue = alone('media', 'libx265', 'libmp3lame', 'libgsm', 'libwebp_anim');
    expect(catalogue.find('convert', 'wav', 'mp3')).toBeUndefined();
    expect(catalogue.find('convert', 'mp4', 'webp')).toBeUndefined();
    expect(catalogue.find('convert', 'mp3', 'wav')).toBeDefined();
    const { options } = catalogue.find('convert', 'mov', 'mp4')?.capability ?? {};
    const codecs = options?.find(({ name }) => name === 'video_codec')?.enum_values?.map(({ value }) => value);
    expect(codecs).toContain('libx264');
    expect(codecs).not.toContain('libx265');
  });

  test('lose only amr without SoX', () => {
    expect(new Set(lost('media', 'sox').map((pair) => pair.split(' ').at(-1)))).toEqual(new Set(['amr']));
  });

  test.each(['ffmpeg', 'ffprobe'])('are off without %s', (program) => {
    expect(alone('media', program).isUsable('media')).toBe(false);
  });
});

describe('documents', () => {
  test('of markup need pandoc alone', () => {
    const catalogue = alone('document', 'soffice', 'gs', 'qpdf', 'pdfinfo');
    expect(catalogue.find('convert', 'md', 'docx')).toBeDefined();
    expect(catalogue.find('convert', 'md', 'pdf')).toBeUndefined();
    expect(catalogue.find('convert', 'docx', 'pdf')).toBeUndefined();
  });

  test('in PDF are drawn without LibreOffice', () => {
    const catalogue = alone('document', 'soffice', 'pandoc', 'gs');
    expect(catalogue.outputs('convert', 'pdf')).toEqual(expect.arrayContaining(['png', 'txt', 'html', 'ps', 'svg']));
    expect(catalogue.find('compress', 'pdf', 'pdf')).toBeUndefined();
    expect(catalogue.find('crop', 'pdf', 'pdf')).toBeDefined();
  });
});

describe('archives', () => {
  test('without libarchive become 7z from what 7-Zip reads', () => {
    const catalogue = alone('archive', 'bsdtar');
    expect(catalogue.outputs('convert', 'zip')).toEqual(['7z', 'cb7']);
    expect(catalogue.outputs('convert', 'rar')).toEqual([]);
  });
});
