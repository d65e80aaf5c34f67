import { child, contentOf, type Element, elements } from '../xml.ts';
import { accent, fenced, fraction, group, matrix, root, scripts, texOf, texText, tidyTex } from './tex.ts';

/** Returns a formula of a page as LaTeX: its annotation, if its author wrote it in LaTeX. */
export function mathmlToTex(formula: Element): string {
  const annotation = elements(child(formula, 'semantics')).find(
    ({ name, attributes }) => name === 'annotation' && attributes.encoding === 'application/x-tex',
  );
  return annotation ? contentOf(annotation).trim() : tidyTex(inside(formula));
}

function inside(parent: Element): string {
  return elements(parent).map(convert).join('');
}

function convert(element: Element): string {
  const parts = elements(element);
  const part = (place: number) => {
    const found = parts[place];
    return found ? convert(found) : '';
  };
  switch (element.name) {
    case 'mi':
    case 'mn':
    case 'mo':
      return texOf(contentOf(element).trim());
    case 'mtext':
    case 'ms':
      return texText(contentOf(element));
    case 'mspace':
      return ' ';
    case 'mfrac':
      return fraction(part(0), part(1));
    case 'msqrt':
      return root(inside(element));
    case 'mroot':
      return root(part(0), part(1));
    case 'msub':
    case 'munder':
      return scripts(part(0), part(1), '');
    case 'msup':
      return scripts(part(0), '', part(1));
    case 'mover': {
      const [, over] = parts;
      return over?.name === 'mo' ? accent(part(0), contentOf(over)) : scripts(part(0), '', part(1));
    }
    case 'msubsup':
    case 'munderover':
      return scripts(part(0), part(1), part(2));
    case 'mfenced':
      return fenced(
        element.attributes.open ?? '(',
        parts.map(convert).join(texOf(element.attributes.separators ?? ',')),
        element.attributes.close ?? ')',
      );
    case 'mtable':
      return matrix(parts.map((row) => elements(row).map(inside)));
    case 'menclose':
      return `\\boxed${group(inside(element))}`;
    case 'annotation':
    case 'annotation-xml':
    case 'mphantom':
      return '';
    default:
      return inside(element);
  }
}
