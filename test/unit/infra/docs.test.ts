import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../../../infra/bundling.ts';
import { settings } from '../../../infra/settings.ts';
import { deploymentContext, settingsPage } from '../../../infra/settings-page.ts';

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');

describe('docs/settings.md', () => {
  test('is what infra/settings-page.ts generates', async () => {
    await expect(settingsPage()).toMatchFileSnapshot(join(projectRoot, 'docs/settings.md'));
  });

  test('lists every context value that the app reads', () => {
    const sources = globSync('infra/**/*.ts', { cwd: projectRoot }).map(read);
    const names = sources.flatMap((source) =>
      [...source.matchAll(/(?:tryGetContext|\bread\w*)\((?:read, )?'(\w+)'[,)]/g)].map(([, name = '']) => name),
    );
    const listed = [...deploymentContext.map(([name]) => name), ...Object.keys(settings)];
    expect(names.length).toBeGreaterThan(15);
    expect(names.filter((name) => !listed.includes(name))).toEqual([]);
    const unread = deploymentContext.filter(([name]) => !sources.some((source) => source.includes(`'${name}'`)));
    expect(unread).toEqual([]);
  });
});

describe('docs/one-conversion.md', () => {
  const page = read('docs/one-conversion.md');
  const paths = [...page.matchAll(/^\d+\. \[`[^`]+`\]\(\.\.\/([^)]+)\)/gm)].map(([, path = '']) => path);

  test('names files that exist, each once', () => {
    expect(paths.filter((path) => !existsSync(join(projectRoot, path)))).toEqual([]);
    expect(new Set(paths).size).toBe(paths.length);
  });

  test('says how many files and lines the walk passes, within a tenth', () => {
    const [, files = '', lines = ''] = /(\d+) files and about ([\d,]+) lines/.exec(page) ?? [];
    const counted = paths.reduce((sum, path) => sum + read(path).trimEnd().split('\n').length, 0);
    expect(Number(files)).toBe(paths.length);
    expect(Math.abs(Number(lines.replace(',', '')) / counted - 1)).toBeLessThan(0.1);
  });
});

describe('documents', () => {
  const documents = globSync(['*.md', 'docs/*.md', 'packages/*/README.md', 'test/**/README.md'], { cwd: projectRoot });

  test('link to files and headings that exist', () => {
    expect(documents.length).toBeGreaterThan(15);
    expect(documents.flatMap(brokenLinks)).toEqual([]);
  });

  test('the README has at most 900 words', () => {
    expect(read('README.md').trim().split(/\s+/).length).toBeLessThanOrEqual(900);
  });

  test('docs/commands.md lists every npm script', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const commands = read('docs/commands.md');
    const isListed = (name: string) => [`npm run ${name}`, `npm ${name}`].some((command) => commands.includes(command));
    expect(Object.keys(scripts).filter((name) => !isListed(name))).toEqual([]);
  });
});

function brokenLinks(document: string): string[] {
  const text = read(document).replaceAll(/^```.*?^```/gms, '');
  const links = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links
    .filter((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? document : relative(projectRoot, join(projectRoot, dirname(document), path));
      if (!existsSync(join(projectRoot, target))) return true;
      return (
        anchor !== undefined && (statSync(join(projectRoot, target)).isDirectory() || !anchorsOf(target).has(anchor))
      );
    })
    .map((link) => `${document}: ${link}`);
}

/** Returns the anchors that GitHub gives the headings of a document. */
function anchorsOf(document: string): Set<string> {
  const headings = [...read(document).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
