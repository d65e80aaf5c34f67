import { all, attributeOf, child, contentOf, type Element, elements } from '../xml.ts';
import { accent, fenced, fraction, group, matrix, root, scripts, texOf, texText, tidyTex } from './tex.ts';

/** Returns a formula of an office document as LaTeX. */
export function ommlToTex(formula: Element): string {
  return tidyTex(inside(formula));
}

function inside(parent: Element | undefined): string {
  return elements(parent).map(convert).join('');
}

function convert(element: Element): string {
  const part = (name: string) => inside(child(element, name));
  switch (element.name) {
    case 'm:r': {
      const text = all(element, 'm:t').map(contentOf).join('');
      return child(element, 'm:rPr', 'm:nor') ? texText(text) : texOf(text);
    }
    case 'm:f':
      return attributeOf(element, ['m:fPr', 'm:type'], 'm:val') === 'noBar'
        ? `\\binom${group(part('m:num'))}${group(part('m:den'))}`
        : fraction(part('m:num'), part('m:den'));
    case 'm:rad':
      return root(part('m:e'), part('m:deg'));
    case 'm:sSub':
    case 'm:sSup':
    case 'm:sSubSup':
      return scripts(part('m:e'), part('m:sub'), part('m:sup'));
    case 'm:sPre':
      return scripts('{}', part('m:sub'), part('m:sup')) + part('m:e');
    case 'm:nary': {
      const sign = attributeOf(element, ['m:naryPr', 'm:chr'], 'm:val') ?? '∫';
      return `${scripts(texOf(sign), part('m:sub'), part('m:sup'))} ${part('m:e')}`;
    }
    case 'm:d': {
      const sign = (name: string, usual: string) => attributeOf(element, ['m:dPr', name], 'm:val') ?? usual;
      const separator = texOf(sign('m:sepChr', '|'));
      return fenced(sign('m:begChr', '('), all(element, 'm:e').map(inside).join(separator), sign('m:endChr', ')'));
    }
    case 'm:m':
      return matrix(all(element, 'm:mr').map((row) => all(row, 'm:e').map(inside)));
    case 'm:eqArr':
      return matrix(
        all(element, 'm:e').map((row) => [inside(row)]),
        'aligned',
      );
    case 'm:func':
      return `${part('m:fName')} ${part('m:e')}`;
    case 'm:limLow':
      return `${part('m:e').trim()}_${group(part('m:lim'))}`;
    case 'm:limUpp':
      return `${part('m:e').trim()}^${group(part('m:lim'))}`;
    case 'm:acc':
      return accent(part('m:e'), attributeOf(element, ['m:accPr', 'm:chr'], 'm:val') ?? '\u0302');
    case 'm:bar':
      return attributeOf(element, ['m:barPr', 'm:pos'], 'm:val') === 'top'
        ? `\\overline${group(part('m:e'))}`
        : `\\underline${group(part('m:e'))}`;
    case 'm:borderBox':
      return `\\boxed${group(part('m:e'))}`;
    case 'm:groupChr':
      return accent(part('m:e'), attributeOf(element, ['m:groupChrPr', 'm:chr'], 'm:val') ?? '⏟');
    default:
      return element.name.endsWith('Pr') ? '' : inside(element);
  }
}
